/**
 * Latency over the size of the store: the points of the graph.
 * @module
 */
import { rmSync } from 'node:fs'
import { copyDataSet, freshFolder } from '../data-sets.ts'
import type { LoadResult } from '../load.ts'
import { listCards, readTokens, searchBoth } from '../requests.ts'
import {
  alternate,
  countText,
  pick,
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
      // One at a time, so that the store stays nearly as large as it is said to be.
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

export const sizeScenarios: readonly Scenario[] = [
  { name: 'sizes', isFullOnly: true, run: measure },
]
