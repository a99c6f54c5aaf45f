/**
 * Pages of a long audit log:
 * `bun scripts/bench/log-pages.ts --data <folder> [--entries 1000000] [--seed 1] [--asks 300]`.
 *
 * Makes a vault whose log has that many entries, all indexed, if the folder is not there yet; then
 * serves it with the compiled binary and asks one question after the other. Prints the times of
 * each kind of question, and exits with 1 if an answer was none.
 * @module
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openConnection, type Connection } from '../../test/support/connection.ts'
import { openRandom, type Random } from '../seed/random.ts'
import { makeVault } from '../seed/vault.ts'
import { startChild } from './child.ts'
import { actorOf, fillLog, hotToken, tokenOf } from './log-fill.ts'
import { describeMachine } from './machine.ts'
import { quantile } from './statistics.ts'

const binary = resolve(
  process.env['COFFER_BINARY'] ?? resolve(import.meta.dir, '../../dist/coffer'),
)
const warmUpAsks = 20
const say = (line: string): void => console.info(`log-pages: ${line}`)

interface Plan {
  readonly data: string
  readonly entries: number
  readonly seed: number
  /** Number of questions of each kind. */
  readonly asks: number
}

function readArguments(): Plan {
  const text = { type: 'string' } as const
  const { values } = parseArgs({ options: { data: text, entries: text, seed: text, asks: text } })
  const { data = '' } = values
  const [entries = 0, seed = 0, asks = 0] = [
    values.entries ?? 1_000_000,
    values.seed ?? 1,
    values.asks ?? 300,
  ].map(Number)
  const areWhole = [entries, seed, asks].every(value => Number.isInteger(value) && value > 0)
  if (data !== '' && areWhole && existsSync(binary)) return { data, entries, seed, asks }
  console.error(
    'usage: log-pages --data <folder> [--entries N] [--seed N] [--asks N]\n' +
      '  needs dist/coffer, which bun scripts/build.ts makes',
  )
  process.exit(2)
}

/** The facts in a file beside the folder. */
interface Facts {
  readonly manager: string
  readonly entries: number
  readonly lastMs: number
  readonly bytesPerEntry: number
  readonly fillSeconds: number
}

async function obtainLog({ data, entries, seed }: Plan): Promise<Facts> {
  const path = `${data}.log.json`
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Facts
  const started = performance.now()
  const { manager } = await makeVault(data)
  const lastMs = Date.now()
  const filled = await fillLog({ data, entries, random: openRandom(seed), lastMs, say })
  const fillSeconds = Math.round((performance.now() - started) / 1_000)
  const facts = { manager, entries, lastMs, bytesPerEntry: Math.round(filled), fillSeconds }
  writeFileSync(path, JSON.stringify(facts) + '\n', { mode: 0o600 })
  return facts
}

type Filters = Readonly<Record<string, string>>

/** Questions by their names: filters of one of them. */
const questions: Readonly<Record<string, (random: Random, facts: Facts) => Filters>> = {
  'a token': (random, { entries }) => ({ entity_id: tokenOf(random, entries) }),
  'a token, as a walk': (random, { entries }) => ({
    entity_id: tokenOf(random, entries),
    start: '',
  }),
  'a token that is not there': random => ({ entity_id: `none-${random.integer(1e9)}` }),
  'a token of 1 % of all entries': () => ({ entity_id: hotToken }),
  'its entries that reveal': () => ({ entity_id: hotToken, transform: 'reveal' }),
  'its entries of an hour': (random, { entries, lastMs }) => {
    const fromMs = lastMs - random.integer(entries * 10)
    return {
      entity_id: hotToken,
      start_date: new Date(fromMs).toISOString(),
      end_date: new Date(fromMs + 3_600_000).toISOString(),
    }
  },
  'a token and a trace': (random, { entries }) => ({
    entity_id: tokenOf(random, entries),
    trace_id: 'none',
  }),
  'an actor': random => ({ actor_id: actorOf(random) }),
  'an actor, as a walk': random => ({ actor_id: actorOf(random), start: '' }),
  'an operation': () => ({ operation: 'detokenize' }),
  'an operation, as a walk': () => ({ operation: 'detokenize', start: '' }),
  'all, as a walk': () => ({ start: '' }),
  'a trace, a stretch of its walk': () => ({ trace_id: 'none', start: '' }),
}

interface Times {
  readonly name: string
  readonly ms: readonly number[]
  readonly failed: number
}

async function ask(
  connection: Connection,
  name: string,
  { asks, seed }: Plan,
  facts: Facts,
): Promise<Times> {
  const random = openRandom(seed + 1)
  const filtersOf = questions[name]
  const ms: number[] = []
  let failed = 0
  for (let i = -warmUpAsks; i < asks; i += 1) {
    const filters = filtersOf?.(random, facts) ?? {}
    const path = `/logs?${new URLSearchParams(filters).toString()}`
    const started = performance.now()
    const { status } = await connection.ask('GET', path, { key: facts.manager })
    if (i >= 0) ms.push(performance.now() - started)
    if (status !== 200) failed += 1
  }
  return { name, ms, failed }
}

const cells = (...texts: readonly string[]): string => `| ${texts.join(' | ')} |`
const shown = (ms: number): string => ms.toFixed(1)

const row = ({ name, ms, failed }: Times): string =>
  cells(name, ...[0.5, 0.99, 1].map(share => shown(quantile(ms, share))), String(failed))

async function tellConditions(plan: Plan, facts: Facts): Promise<void> {
  const { date, commit, processor, disk } = await describeMachine(binary, plan.data, 'none')
  const load = shown(loadavg()[0] ?? 0)
  say(`${date}, commit ${commit}, ${processor}, ${disk}, load ${load}`)
  say(
    `${facts.entries} entries, seed ${plan.seed}, filled in ${facts.fillSeconds} s, ` +
      `${facts.bytesPerEntry} bytes an entry, ${plan.asks} asks each`,
  )
}

/** @returns number of questions that failed */
async function askAll(plan: Plan, facts: Facts): Promise<number> {
  const server = await startChild([binary, 'serve', '--data', plan.data, '--port', '0'], {
    stderr: 'inherit',
  })
  const { hostname, port } = new URL(server.ready.split(/\s/).at(-1) ?? '')
  const connection = await openConnection({ hostname, port: Number(port) })
  console.info(cells('Asked for', 'p50 ms', 'p99 ms', 'max ms', 'failed'))
  console.info(cells('---', '---', '---', '---', '---'))
  let failed = 0
  for (const name of Object.keys(questions)) {
    const times = await ask(connection, name, plan, facts)
    failed += times.failed
    console.info(row(times))
  }
  connection.close()
  await server.stop()
  return failed
}

const plan = readArguments()
const facts = await obtainLog(plan)
await tellConditions(plan, facts)
process.exit((await askAll(plan, facts)) > 0 ? 1 : 0)
