/**
 * Creates cards, one by one against plain puts of the same bytes, and a thousand at once.
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { runToEnd } from '../child.ts'
import { copyDataSet, freshFolder, makeDataSet } from '../data-sets.ts'
import type { LoadResult } from '../load.ts'
import { createCards, tokenizeCards } from '../requests.ts'
import {
  alternate,
  atLeast,
  atMost,
  pick,
  ratioCheck,
  type Bench,
  type Check,
  type Outcome,
  type Scenario,
  type Side,
} from '../scenario.ts'
import { runOn } from '../processor.ts'
import { withCoffer, type Server } from '../servers.ts'

export const createConnections = 64
const floorProgram = resolve(import.meta.dir, '../floors/lmdb.ts')

/** Creates cards by one request each. @param connections  in flight at a time */
export const creating =
  (bench: Bench, server: Server, key: string, connections = createConnections): Side =>
  round => {
    const { seconds } = bench
    return runOn(bench, server, {
      requests: createCards(key, round, seconds),
      connections,
      seconds,
    })
  }

/** Floor (b): puts of equally large rows with equally many uniques and terms, in its own folder. */
async function openFloor(bench: Bench): Promise<Side> {
  const { cardRow } = (await bench.vault(bench.tokens.small)).facts
  const folder = freshFolder(bench.folder)
  mkdirSync(folder)
  const { bytes, uniques, terms } = cardRow
  const words = [folder, bench.seconds, createConnections, bytes, uniques, terms].map(String)
  bench.say(`  the row of a card: ${bytes} bytes, ${uniques} unique, ${terms} terms`)
  return async () =>
    JSON.parse(await runToEnd([process.execPath, floorProgram, ...words])) as LoadResult
}

/** The flush rate of a disk varies by half within seconds, so this takes more rounds. */
const createRounds = 9

/** Both begin empty and grow. */
async function measureCreates(bench: Bench): Promise<Outcome> {
  const vault = await makeDataSet(freshFolder(bench.folder), 0, 'mixed')
  const floor = await openFloor(bench)
  const many = { ...bench, rounds: createRounds }
  const sides = await withCoffer(bench, vault.folder, server =>
    alternate(many, { coffer: creating(bench, server, vault.facts.keys.create), lmdb: floor }),
  )
  const what = 'POST /tokens, durable, a card with 8 terms, against plain LMDB puts: rate'
  const target = atLeast(0.7)
  const check = { key: 'create.rate', what, target, isSteady: true }
  return { sides, checks: [ratioCheck(check, 'perSecond', sides.coffer, sides.lmdb)] }
}

/** Few and long: requests in flight at the end of a round are not counted. */
const bulk = { bodies: 20, items: 1_000, connections: 2 } as const

/** Rates and processor time are per token, latencies per request. */
const tokenizing =
  (bench: Bench, server: Server, key: string): Side =>
  async round => {
    const result = await runOn(bench, server, {
      requests: tokenizeCards(key, round, bulk),
      connections: bulk.connections,
      seconds: (bench.isQuick ? 2 : 3) * bench.seconds,
    })
    const { perSecond, processorUs = Number.NaN } = result
    return {
      ...result,
      perSecond: perSecond * bulk.items,
      processorUs: processorUs / bulk.items,
    }
  }

async function measureTokenize(bench: Bench): Promise<Outcome> {
  const { folder, facts } = await makeDataSet(freshFolder(bench.folder), 0, 'mixed')
  const key = facts.keys.create
  const sides = await withCoffer(bench, folder, server =>
    alternate(bench, {
      tokenize: tokenizing(bench, server, key),
      singles: creating(bench, server, key),
    }),
  )
  const values = pick(sides.tokenize, 'processorUs')
  const what = 'POST /tokenize of 1,000 cards: processor time of a token'
  const check = { key: 'tokenize.processor', what, target: atMost(50), isSteady: false }
  return { sides, checks: [{ ...check, unit: 'µs', values }] }
}

/** Long enough for a whole fold in each round. */
const pagesSeconds = 12

/** Measures the pages that a create writes in a large vault: its row, its folds and their pages. */
async function measurePages(bench: Bench): Promise<Outcome> {
  const vault = copyDataSet(await bench.vault(bench.tokens.large), freshFolder(bench.folder))
  const long = { ...bench, seconds: pagesSeconds, rounds: Math.min(bench.rounds, 3) }
  const { create: key } = vault.facts.keys
  const sides = await withCoffer(bench, vault.folder, server =>
    alternate(long, {
      group: creating(long, server, key),
      lone: creating(long, server, key, 1),
    }),
  )
  rmSync(vault.folder, { recursive: true })
  const checkOf = (name: 'group' | 'lone', what: string, most: number): Check => ({
    key: `create.pages.${name}`,
    what,
    target: atMost(most),
    isSteady: false,
    unit: 'pages',
    values: pick(sides[name], 'pages'),
  })
  const checks = [
    checkOf('group', 'POST /tokens at the large size, 64 at once: pages written', 0.9),
    checkOf('lone', 'the same, one at a time', 12),
  ]
  return { sides, checks }
}

export const createScenarios: readonly Scenario[] = [
  { name: 'create', run: measureCreates },
  { name: 'tokenize', run: measureTokenize },
  { name: 'pages', isFullOnly: true, run: measurePages },
]
