/**
 * Two builds side by side: `bun scripts/bench/against.ts <other binary> [rounds] [seconds]`.
 *
 * The same requests to `dist/coffer` and to the other one, each on its own copy of one vault, in
 * turns: reads, lists, searches, creates. Prints medians and the ratio of this build to the other.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { autocannonIn } from './autocannon.ts'
import { runToEnd } from './child.ts'
import { copyDataSet, makeDataSet, type DataSet } from './data-sets.ts'
import type { LoadGenerator, LoadRequest } from './load.ts'
import { createCards, listCards, readTokens, searchBoth, tokenizeCards } from './requests.ts'
import { alternate, pick, type Bench, type Side } from './scenario.ts'
import { withCoffer } from './servers.ts'
import { median, ratiosOf, summaryOf } from './statistics.ts'
import { wrkIn } from './wrk.ts'

const tokens = 10_000
const [other, rounds = '7', seconds = '2'] = process.argv.slice(2)
if (other === undefined) {
  console.error('usage: against.ts <other binary> [rounds] [seconds]')
  process.exit(2)
}

interface Case {
  readonly name: string
  readonly connections: number
  readonly requests: (facts: DataSet['facts'], round: number) => readonly LoadRequest[]
}

const cases: readonly Case[] = [
  { name: 'read', connections: 32, requests: f => readTokens(f.keys.reveal, f.cardIds) },
  { name: 'masked read', connections: 32, requests: f => readTokens(f.keys.mask, f.cardIds) },
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

async function compare(bench: Bench, made: DataSet, each: Case): Promise<string> {
  const own = copyDataSet(made, join(bench.folder, `own ${each.name}`))
  const their = copyDataSet(made, join(bench.folder, `their ${each.name}`))
  const side =
    (address: string): Side =>
    round =>
      bench.loads.run({
        address,
        requests: each.requests(made.facts, round),
        connections: each.connections,
        seconds: bench.seconds,
      })
  const sides = await withCoffer(bench, own.folder, mine =>
    withCoffer({ ...bench, coffer: [resolve(other ?? '')] }, their.folder, theirs =>
      alternate(bench, { own: side(mine.address), other: side(theirs.address) }),
    ),
  )
  const rates = ratiosOf(pick(sides.own, 'perSecond'), pick(sides.other, 'perSecond'))
  const { median: ratio, low, high } = summaryOf(rates)
  const [mine, theirs] = [sides.own, sides.other].map(results =>
    Math.round(median(pick(results, 'perSecond'))),
  )
  const spread = `${low.toFixed(2)} to ${high.toFixed(2)}`
  return `| ${each.name} | ${theirs} | ${mine} | ${ratio.toFixed(3)} | ${spread} |`
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
  ...{ isQuick: true, rounds: Number(rounds), seconds: Number(seconds), folder },
  tokens: { small: tokens, large: tokens },
  coffer: [resolve(import.meta.dir, '../../dist/coffer')],
  loads: await generatorIn(folder),
  vault: () => Promise.resolve(made),
  say: line => console.info(line),
}
const lines: string[] = []
for (const each of cases) lines.push(await compare(bench, made, each))
console.info('\n| | other, a second | this, a second | ratio | rounds |')
console.info('| --- | --- | --- | --- | --- |')
console.info(lines.join('\n'))
process.exit(0)
