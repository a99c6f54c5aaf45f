/**
 * Hours in the life of a server:
 * `bun scripts/soak.ts [--minutes 60] [--rate 500] [--warm-up 20] [--tokens 0]`.
 *
 * Serves a vault that begins with that many tokens, from source or with the binary that
 * `COFFER_BINARY` names, under a steady mixed load with expiries and sweeps. Every ten seconds it
 * reads memory, descriptors, reader slots, rows and file size. Ends with a fitted line through
 * each, and exit code 1 when one grows by 5 % in an hour, or when an answer was not the expected
 * one. It first warms up, by default a third of the time and 20 minutes at most: the file grows
 * until rows expire as fast as they come, and then to the maximum that random lengths need, as it
 * never shrinks. For memory, the lowest reading of each five minutes counts, because the
 * collector's saw-tooth hides a leak. Source: hardening D14.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openConnection, type Target } from '../test/support/connection.ts'
import { makeDataSet } from './bench/data-sets.ts'
import { startCoffer } from '../test/support/coffer-process.ts'
import { runLoad, type Keys, type Tally } from './soak/load.ts'
import { measures, openProbe, type Probe, type Reading } from './soak/samples.ts'
import { fitTrend, lowestOf, type Trend } from './soak/slope.ts'

const minuteMs = 60 * 1_000
const sampleMs = 10 * 1_000
const warmUpMsMax = 20 * minuteMs
const lifetimeMsMax = minuteMs
const percentPerHourMax = 5
const lowestOfMs = 5 * minuteMs

const tokenPermissions = ['create', 'read', 'update', 'delete', 'search', 'use']

interface Point {
  readonly atMs: number
  readonly reading: Reading
}

interface Plan {
  readonly minutes: number
  /** Requests per second. */
  readonly rate: number
  readonly warmUpMs: number
  /** Tokens that exist before it begins. */
  readonly tokens: number
}

function readArguments(): Plan {
  const text = { type: 'string' } as const
  const options = { minutes: text, rate: text, 'warm-up': text, tokens: text }
  const { values } = parseArgs({ options })
  const minutes = Number(values.minutes ?? 60)
  const rate = Number(values.rate ?? 500)
  const tokens = Number(values.tokens ?? 0)
  const usual = Math.min(warmUpMsMax, (minutes * minuteMs) / 3)
  const given = values['warm-up']
  const warmUpMs = given === undefined ? usual : Number(given) * minuteMs
  if (minutes >= 1 && rate >= 1 && warmUpMs > 0 && tokens >= 0) {
    return { minutes, rate, warmUpMs, tokens }
  }
  console.error('usage: soak [--minutes N] [--rate requests-per-second] [--warm-up N] [--tokens N]')
  process.exit(2)
}

async function makeKeys(target: Target, management: string): Promise<Keys> {
  const connection = await openConnection(target)
  const make = async (type: string, permissions: readonly string[]): Promise<string> => {
    const body = { name: type, type, permissions: permissions.map(name => `token:${name}`) }
    const { text } = await connection.ask('POST', '/applications', { key: management, body })
    return String((JSON.parse(text) as { key: string }).key)
  }
  const keys = {
    management,
    private: await make('private', tokenPermissions),
    public: await make('public', ['create']),
  }
  connection.close()
  return keys
}

/** Reads the probe until the time is up. */
async function takeSamples(probe: Probe, untilMs: number): Promise<Point[]> {
  const points: Point[] = []
  for (let nextMs = performance.now(); nextMs <= untilMs; nextMs += sampleMs) {
    await Bun.sleep(Math.max(0, nextMs - performance.now()))
    const reading = probe.read()
    points.push({ atMs: performance.now(), reading })
    if (points.length % 6 === 1) console.info(Object.values(reading).join('  '))
  }
  return points
}

function printTrends(points: readonly Point[]): boolean {
  console.info('\n| what | start | end | % per hour |\n|---|---|---|---|')
  let isFlat = true
  for (const measure of measures) {
    const all = points.map(({ atMs, reading }) => ({ atMs, value: reading[measure] }))
    const samples = measure.startsWith('resident') ? lowestOf(all, lowestOfMs) : all
    const { start, end, percentPerHour }: Trend = fitTrend(samples)
    if (percentPerHour >= percentPerHourMax) isFlat = false
    const [from, to] = [start, end].map(value => Math.round(value * 10) / 10)
    console.info(`| ${measure} | ${from} | ${to} | ${percentPerHour.toFixed(2)} |`)
  }
  return isFlat
}

async function soak(folder: string, plan: Plan): Promise<boolean> {
  const { minutes, rate, warmUpMs, tokens } = plan
  const data = join(folder, 'data')
  const target = { unix: join(folder, 'socket') }
  const { facts } = await makeDataSet(data, tokens, 'cards')
  const management = facts.keys.manager
  // The load searches and deduplicates by a key that masks, beyond the guesses of a minute.
  const anyGuesses = [
    '--search-guesses-per-minute-max',
    '0',
    '--create-guesses-per-minute-max',
    '0',
  ]
  const serve = ['serve', '--data', data, '--socket', target.unix, ...anyGuesses]
  const server = await startCoffer(serve)
  const probe = openProbe(server.pid, join(data, 'store'))
  const keys = await makeKeys(target, management)
  const lifetimeMs = Math.min(lifetimeMsMax, warmUpMs / 2)
  const load = { target, keys, requestsPerSecond: rate, lifetimeMs }
  const tally: Tally = { requests: 0, failures: new Map() }
  const startMs = performance.now()
  const untilMs = startMs + warmUpMs + minutes * minuteMs
  const warmUpMinutes = Math.round(warmUpMs / minuteMs)
  console.info(`soak: ${minutes} minutes after ${warmUpMinutes}, ${rate} requests a second`)
  console.info(`${tokens} tokens before it began`)
  console.info('one line a minute of')
  console.info(measures.join('  '))
  const [points] = await Promise.all([takeSamples(probe, untilMs), runLoad(load, tally, untilMs)])
  await probe.close()
  const exitCode = await server.end('SIGTERM')
  const isFlat = printTrends(points.filter(({ atMs }) => atMs >= startMs + warmUpMs))
  const perSecond = Math.round((tally.requests * 1_000) / (untilMs - startMs))
  console.info(`\n${tally.requests} requests, ${perSecond} a second`)
  for (const [what, count] of tally.failures) console.info(`${count} times ${what}`)
  if (exitCode !== 0) console.info(`exit code ${exitCode} after SIGTERM`)
  return isFlat && tally.failures.size === 0 && exitCode === 0
}

const plan = readArguments()
const folder = mkdtempSync(join(tmpdir(), 'coffer-soak-'))
try {
  const isFlat = await soak(folder, plan)
  console.info(isFlat ? ' 1 pass\n 0 fail' : ' 0 pass\n 1 fail')
  process.exitCode = isFlat ? 0 : 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
