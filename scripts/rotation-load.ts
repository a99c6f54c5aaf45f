/**
 * A rotation under load:
 * `bun scripts/rotation-load.ts --data <folder> [--rate 1000] [--searches 20] [--idle 60]`.
 *
 * Takes a folder of `scripts/seed.ts`, serves it with the compiled binary and sends reads at a
 * fixed rate and searches with known totals: first on an otherwise idle server, then while keys are
 * rotated, then while the older one is retired. Prints a table, and exits with 1 if a read failed,
 * a search missed or a total was wrong. Speed decides nothing, since the machine may be shared.
 * Source: docs/evidence/campaigns.md, "Rotation".
 * @module
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openConnection, type Target } from '../test/support/connection.ts'
import { runToEnd, startChild } from './bench/child.ts'
import { quantile } from './bench/statistics.ts'
import { makeProbes, readsOf, readTexts, searchesOf } from './rotation/questions.ts'
import { keepRate, openTally, type Tally } from './rotation/rate.ts'
import { bytesOnDisk, readFacts } from './seed/facts.ts'
import { openRandom } from './seed/random.ts'

const binary = resolve(process.env['COFFER_BINARY'] ?? resolve(import.meta.dir, '../dist/coffer'))
const readers = 32
const searchers = 4
const warmUpMs = 5_000
const windowMs = 10_000

interface Plan {
  readonly data: string
  /** Reads per second. */
  readonly rate: number
  /** Searches per second. */
  readonly searches: number
  readonly idleMs: number
}

function readArguments(): Plan {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { data: text, rate: text, searches: text, idle: text } })
  const { data = '' } = values
  const [rate, searches, idle] = [values.rate ?? 1_000, values.searches ?? 20, values.idle ?? 60]
  const numbers = [rate, searches, idle].map(Number)
  if (existsSync(`${data}.json`) && existsSync(binary) && numbers.every(number => number > 0)) {
    return { data, rate: Number(rate), searches: Number(searches), idleMs: Number(idle) * 1_000 }
  }
  console.error(
    'usage: rotation-load --data <folder of seed> [--rate N] [--searches N] [--idle seconds]\n' +
      '  needs dist/coffer, which bun scripts/build.ts makes',
  )
  process.exit(2)
}

/** One stretch of time, with the results of its requests. */
interface Phase {
  readonly name: string
  readonly reads: Tally
  readonly searches: Tally
  seconds: number
}

const openPhase = (name: string): Phase => ({
  name,
  reads: openTally(),
  searches: openTally(),
  seconds: 0,
})

/** Returns the median of the windows: a short disturbance affects only a few of them. */
function windowsP99({ tookMs, endedMs }: Tally): number {
  const windows = new Map<number, number[]>()
  tookMs.forEach((ms, at) => {
    const window = Math.floor((endedMs[at] ?? 0) / windowMs)
    const some = windows.get(window)
    if (some === undefined) windows.set(window, [ms])
    else some.push(ms)
  })
  return quantile(
    [...windows.values()].map(some => quantile(some, 0.99)),
    0.5,
  )
}

const shown = (ms: number): string => ms.toFixed(1)

function rowOf({ name, seconds, reads, searches }: Phase): string {
  const { tookMs } = reads
  const cells = [
    name,
    Math.round(seconds),
    tookMs.length,
    Math.round(tookMs.length / seconds),
    ...[0.5, 0.99, 1].map(share => shown(quantile(tookMs, share))),
    shown(windowsP99(reads)),
    searches.tookMs.length,
    shown(quantile(searches.tookMs, 0.99)),
  ]
  return `| ${cells.join(' | ')} |`
}

const heading = [
  'while',
  'seconds',
  'reads',
  'a second',
  'p50 ms',
  'p99 ms',
  'longest ms',
  'p99 ms, median of 10 s',
  'searches',
  'p99 ms',
]

const wrongOf = (phases: readonly Phase[]): [string, number][] =>
  phases.flatMap(({ name, reads, searches }) =>
    [reads, searches].flatMap(({ wrong }) =>
      [...wrong].map(([what, count]): [string, number] => [`${what}, while ${name}`, count]),
    ),
  )

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

function print(phases: readonly Phase[], bytes: readonly number[]): boolean {
  console.info(`\n| ${heading.join(' | ')} |\n|${heading.map(() => '---').join('|')}|`)
  for (const phase of phases) console.info(rowOf(phase))
  const [idle, rotating] = phases
  if (idle !== undefined && rotating !== undefined) {
    const ratio = quantile(rotating.reads.tookMs, 0.99) / quantile(idle.reads.tookMs, 0.99)
    const windows = windowsP99(rotating.reads) / windowsP99(idle.reads)
    console.info(
      `\np99 of reads: ${ratio.toFixed(2)} × idle; of windows: ${windows.toFixed(2)} ×` +
        `\nrotation: ${(rotating.seconds / 60).toFixed(1)} minutes`,
    )
  }
  console.info(`database: ${bytes.map(mebibytes).join(' → ')}`)
  console.info(
    `load of the machine: ${loadavg().map(shown).join(', ')}, ${cpus().length} processors`,
  )
  const wrong = wrongOf(phases)
  for (const [what, count] of wrong) console.info(`${count} times ${what}`)
  console.info(wrong.length === 0 ? ' 1 pass\n 0 fail' : ' 0 pass\n 1 fail')
  return wrong.length === 0
}

async function runPhases(plan: Plan, target: Target): Promise<boolean> {
  const { data, rate, searches, idleMs } = plan
  const facts = readFacts(data)
  const random = openRandom(1)
  const connection = await openConnection(target)
  const nextRead = readsOf(await readTexts(connection, facts), facts, random)
  const nextSearch = searchesOf(await makeProbes(connection, facts), facts, random)
  connection.close()
  let phase = openPhase('it warms up')
  let isOver = false
  const rest = { target, isOver: () => isOver }
  const load = Promise.all([
    keepRate({
      ...rest,
      perSecond: rate,
      connections: readers,
      next: nextRead,
      tallyNow: () => phase.reads,
    }),
    keepRate({
      ...rest,
      perSecond: searches,
      connections: searchers,
      next: nextSearch,
      tallyNow: () => phase.searches,
    }),
  ])
  const run = async (name: string, work: () => Promise<unknown>): Promise<Phase> => {
    phase = openPhase(name)
    const startMs = performance.now()
    console.info(`rotation-load: ${name}`, (await work()) ?? '')
    phase.seconds = (performance.now() - startMs) / 1_000
    return phase
  }
  const keys = (what: string) => () => runToEnd([binary, 'keys', what, '--data', data, '--json'])
  const bytes = [bytesOnDisk(data)]
  const phases: Phase[] = []
  try {
    await run('it warms up', () => Bun.sleep(warmUpMs))
    phases.push(await run('nothing else is done', () => Bun.sleep(idleMs)))
    phases.push(await run('keys are rotated', keys('rotate')))
    bytes.push(bytesOnDisk(data))
    phases.push(await run('the older key is retired', keys('retire')))
    bytes.push(bytesOnDisk(data))
  } finally {
    isOver = true
    await load
  }
  return print(phases, bytes)
}

const plan = readArguments()
const folder = mkdtempSync(join(tmpdir(), 'coffer-rotation-'))
const socket = join(folder, 'socket')
const server = await startChild([binary, 'serve', '--data', plan.data, '--socket', socket])
try {
  process.exitCode = (await runPhases(plan, { unix: socket })) ? 0 : 1
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}
