/**
 * Latency over the size of the store, as points of the graph, and the rate of creates.
 * @module
 */
import { rmSync } from 'node:fs'
import { copyDataSet, freshFolder } from '../data-sets.ts'
import type { LoadResult } from '../load.ts'
import { listCards, readTokens, searchBoth } from '../requests.ts'
import {
  alternate,
  atLeast,
  countText,
  pick,
  ratioCheck,
  type Bench,
  type Outcome,
  type Point,
  type Scenario,
} from '../scenario.ts'
import { withCoffer } from '../servers.ts'
import { median } from '../statistics.ts'
import { runOn } from '../processor.ts'
import { creating } from './creates.ts'

const connections = 32
/** Long enough for a fold in each round. */
const growthSeconds = 10
const sizes = [10_000, 100_000, 1_000_000]

async function measureSize(bench: Bench, tokens: number): Promise<Record<string, LoadResult[]>> {
  const vault = copyDataSet(await bench.vault(tokens), freshFolder(bench.folder))
  const { keys, cardIds } = vault.facts
  const { seconds } = bench
  const results = await withCoffer(bench, vault.folder, server => {
    const asking = (requests: ReturnType<typeof readTokens>) => () =>
      runOn(bench, server, { requests, connections, seconds })
    return alternate(bench, {
      read: asking(readTokens(keys.reveal, cardIds)),
      list: asking([listCards(keys.mask)]),
      search: asking([searchBoth(keys.mask)]),
      // One at a time, so that the store stays close to its stated size.
      create: creating(bench, server, keys.create, 1),
    })
  })
  rmSync(vault.folder, { recursive: true })
  return results
}

async function measure(bench: Bench): Promise<Outcome> {
  const points: Point[] = []
  const sides: Record<string, LoadResult[]> = {}
  for (const tokens of [...sizes.filter(size => size < bench.tokens.large), bench.tokens.large]) {
    const results = await measureSize(bench, tokens)
    for (const [series, rounds] of Object.entries(results)) {
      const p50Ms = median(pick(rounds, 'p50Ms'))
      const p99Ms = median(pick(rounds, 'p99Ms'))
      points.push({ series, tokens, p50Ms, p99Ms })
      sides[`${series}, ${countText(tokens)}`] = rounds
    }
  }
  return { checks: [], sides, points }
}

/** Measures if creates stay as fast while the vault grows. */
async function measureGrowth(bench: Bench): Promise<Outcome> {
  const { small, large } = bench.tokens
  const copyOf = async (tokens: number) =>
    copyDataSet(await bench.vault(tokens), freshFolder(bench.folder))
  const [few, many] = [await copyOf(small), await copyOf(large)]
  const long = { ...bench, seconds: growthSeconds }
  const sides = await withCoffer(bench, few.folder, fewServer =>
    withCoffer(bench, many.folder, manyServer =>
      alternate(long, {
        few: creating(long, fewServer, few.facts.keys.create),
        many: creating(long, manyServer, many.facts.keys.create),
      }),
    ),
  )
  for (const { folder } of [few, many]) rmSync(folder, { recursive: true })
  const [most, least] = [countText(large), countText(small)]
  const what = `POST /tokens, durable: rate at ${most} tokens, against ${least}`
  const check = { key: 'growth.create', what, target: atLeast(0.6), isSteady: false }
  return { sides, checks: [ratioCheck(check, 'perSecond', sides.many, sides.few)] }
}

export const sizeScenarios: readonly Scenario[] = [
  { name: 'growth', isFullOnly: true, run: measureGrowth },
  { name: 'sizes', isFullOnly: true, run: measure },
]
