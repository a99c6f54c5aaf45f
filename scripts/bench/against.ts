/**
 * Compares two builds: `bun scripts/bench/against.ts <other binary> [rounds] [seconds] [case]`.
 *
 * Sends the same requests to `dist/coffer` and to the other one, each on its own copy of one vault,
 * in alternation: reads, also over many connections, refusals, lists, searches, creates. Prints
 * medians and the ratio of this build to the other, of requests per second and of processor time
 * per request, which varies less.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { autocannonIn } from './autocannon.ts'
import { runToEnd } from './child.ts'
import { copyDataSet, makeDataSet, type DataSet } from './data-sets.ts'
import type { LoadGenerator, LoadRequest } from './load.ts'
import { runOn } from './processor.ts'
import { createCards, listCards, readTokens, searchBoth, tokenizeCards } from './requests.ts'
import { alternate, pick, type Bench, type Side } from './scenario.ts'
import { withCoffer, type Server } from './servers.ts'
import { median, ratiosOf, summaryOf } from './statistics.ts'
import { wrkIn } from './wrk.ts'

const tokens = 10_000
const [other, rounds = '7', seconds = '2', only] = process.argv.slice(2)
if (other === undefined) {
  console.error('usage: against.ts <other binary> [rounds] [seconds] [case]')
  process.exit(2)
}

interface Case {
  readonly name: string
  readonly connections: number
  readonly isRefused?: boolean
  readonly requests: (facts: DataSet['facts'], round: number) => readonly LoadRequest[]
}

/** A key that nobody has. */
const unknownKey = `key_${'a'.repeat(22)}`

const cases: readonly Case[] = [
  { name: 'read', connections: 32, requests: f => readTokens(f.keys.reveal, f.cardIds) },
  { name: 'read by 64', connections: 64, requests: f => readTokens(f.keys.reveal, f.cardIds) },
  { name: 'read by 256', connections: 256, requests: f => readTokens(f.keys.reveal, f.cardIds) },
  { name: 'masked read', connections: 32, requests: f => readTokens(f.keys.mask, f.cardIds) },
  {
    name: 'refused key',
    connections: 32,
    isRefused: true,
    requests: f => readTokens(unknownKey, f.cardIds),
  },
  { name: 'list of 20', connections: 16, requests: f => [listCards(f.keys.mask)] },
  { name: 'search', connections: 16, requests: f => [searchBoth(f.keys.mask)] },
  {
    name: 'create',
    connections: 64,
    requests: (f, round) => createCards(f.keys.create, round, Number(seconds)),
  },
  {
    name: 'tokenize 100',
    connections: 4,
    requests: (f, round) => tokenizeCards(f.keys.create, round, { bodies: 100, items: 100 }),
  },
]

/** One line of a table. */
function lineOf(what: string, own: readonly number[], other: readonly number[]): string {
  const { median: ratio, low, high } = summaryOf(ratiosOf(own, other))
  const [mine, theirs] = [own, other].map(values => Math.round(median(values)))
  const spread = `${low.toFixed(2)} to ${high.toFixed(2)}`
  return `| ${what} | ${theirs} | ${mine} | ${ratio.toFixed(3)} | ${spread} |`
}

async function compare(bench: Bench, made: DataSet, each: Case): Promise<string[]> {
  const own = copyDataSet(made, join(bench.folder, `own ${each.name}`))
  const their = copyDataSet(made, join(bench.folder, `their ${each.name}`))
  const side =
    (server: Server): Side =>
    round =>
      runOn(bench, server, {
        requests: each.requests(made.facts, round),
        connections: each.connections,
        isRefused: each.isRefused ?? false,
        seconds: bench.seconds,
      })
  const sides = await withCoffer(bench, own.folder, mine =>
    withCoffer({ ...bench, coffer: [resolve(other ?? '')] }, their.folder, theirs =>
      alternate(bench, { own: side(mine), other: side(theirs) }),
    ),
  )
  return [
    lineOf(`${each.name}, a second`, pick(sides.own, 'perSecond'), pick(sides.other, 'perSecond')),
    lineOf(
      `${each.name}, processor µs`,
      pick(sides.own, 'processorUs'),
      pick(sides.other, 'processorUs'),
    ),
  ]
}

async function generatorIn(folder: string): Promise<LoadGenerator> {
  if (Bun.which('wrk') === null) return autocannonIn(folder)
  const printed = await runToEnd(['sh', '-c', 'wrk --version || true'])
  return wrkIn(folder, printed.split(' [')[0] ?? 'wrk')
}

const folder = mkdtempSync(join(tmpdir(), 'coffer-against-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const made = await makeDataSet(join(folder, 'made'), tokens, 'mixed')
const bench: Bench = {
  isQuick: true,
  isWatched: false,
  rounds: Number(rounds),
  seconds: Number(seconds),
  folder,
  tokens: {
    small: tokens,
    large: tokens,
  },
  coffer: [resolve(import.meta.dir, '../../dist/coffer')],
  loads: await generatorIn(folder),
  vault: () => Promise.resolve(made),
  say: line => console.info(line),
}
const lines: string[] = []
const asked = cases.filter(({ name }) => only === undefined || name === only)
for (const each of asked) lines.push(...(await compare(bench, made, each)))
console.info('\n| | other | this | ratio | rounds |')
console.info('| --- | --- | --- | --- | --- |')
console.info(lines.join('\n'))
process.exit(0)
