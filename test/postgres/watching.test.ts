/**
 * Metrics and states of a vault in PostgreSQL, also while there is no database.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { isPostgresThere, nextSchema, startPostgres, type TestServer } from '../support/postgres.ts'

const addressIn = (text: string): string => text.match(/http:\/\/127\.0\.0\.1:\d+/)?.[0] ?? ''
const textOf = async (address: string): Promise<[number, string]> => {
  const answer = await fetch(address)
  return [answer.status, await answer.text()]
}
const namesIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name)

/** The value of a line of the text format. */
function valueOf(text: string, line: string): number | undefined {
  const found = text.split('\n').find(one => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

/** Starts a vault in a database of its own, with a listener for its metrics. */
async function start() {
  const server = await startPostgres()
  const data = join(temporaryFolder(), 'v')
  const made = await runCoffer(['init', '--data', data, '--store', server.url(nextSchema())])
  expect(made.exitCode).toBe(0)
  const vault = await startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'])
  return { server, vault, ops: addressIn(vault.ready) }
}

async function untilTold(ops: string, isSo: (text: string) => boolean): Promise<string> {
  for (;;) {
    const [status, text] = await textOf(`${ops}/metrics`)
    if (status === 200 && isSo(text)) return text
    await Bun.sleep(100)
  }
}

// .ci/run installs it.
describe.skipIf(!isPostgresThere)('a vault in PostgreSQL that is watched', () => {
  let server: TestServer
  let vault: Running
  let ops: string

  beforeAll(async () => {
    ;({ server, vault, ops } = await start())
  }, 300_000)
  afterAll(async () => {
    expect(await vault.end('SIGTERM')).toBe(0)
    await server.stop()
  })

  test('tells how it gets on with it', async () => {
    const pools = { look: 2, page: 4, write: 3 }
    const leases = ['sweep', 'fold'].map(task => `coffer_database_lease{task="${task}"}`)
    const isSettled = (each: string): boolean =>
      leases.every(line => valueOf(each, line) === 1) &&
      Object.entries(pools).every(
        ([pool, most]) =>
          (valueOf(each, `coffer_database_in_flight{pool="${pool}"}`) ?? Infinity) <= most,
      )
    const text = await untilTold(ops, isSettled)
    for (const [pool, connections] of Object.entries(pools)) {
      const of = (name: string) => valueOf(text, `coffer_database_${name}{pool="${pool}"}`)
      expect([of('connections'), of('timeouts_total')]).toEqual([connections, 0])
      expect(of('statements_total')).toBeGreaterThan(0)
      for (const kind of ['lost', 'certificate', 'again', 'full', 'rights', 'missing', 'other']) {
        const line = `coffer_database_failures_total{pool="${pool}",kind="${kind}"}`
        expect([line, valueOf(text, line)]).toEqual([line, 0])
      }
    }
    for (const name of ['retries_total', 'folds_total', 'fold_failures_total', 'writes_waiting']) {
      expect([name, valueOf(text, `coffer_database_${name}`)]).toEqual([name, 0])
    }
    expect(valueOf(text, 'coffer_database_silent_seconds')).toBeLessThan(300)
    expect(Math.abs(valueOf(text, 'coffer_database_clock_skew_seconds') ?? NaN)).toBeLessThan(60)
    expect(valueOf(text, 'coffer_store_rows')).toBeGreaterThan(0)
    expect(valueOf(text, 'coffer_store_tail_rows')).toBeGreaterThan(0)
    expect(valueOf(text, 'coffer_store_file_bytes')).toBeUndefined()
  })

  test('tells nothing that docs/operations.md does not name', async () => {
    const page = readFileSync(resolve(import.meta.dir, '../../docs/operations.md'), 'utf8')
    const [, text] = await textOf(`${ops}/metrics`)
    const names = namesIn(text)
    expect(names.length).toBeGreaterThan(25)
    expect(names.filter(name => !page.includes(name))).toEqual([])
  })

  test('is the only one that tells of a database', async () => {
    const data = join(temporaryFolder(), 'v')
    await runCoffer(['init', '--data', data])
    const plain = await startCoffer(['serve', '--data', data, '--port', '0', '--ops-port', '0'])
    const [, text] = await textOf(`${addressIn(plain.ready)}/metrics`)
    expect(namesIn(text).filter(name => name.startsWith('coffer_database_'))).toEqual([])
    expect(valueOf(text, 'coffer_store_file_bytes')).toBeGreaterThan(0)
    expect(await plain.end('SIGTERM')).toBe(0)
  })

  test('goes on telling while there is no database, and is not ready', async () => {
    const own = await start()
    expect(await textOf(`${own.ops}/readyz`)).toEqual([200, 'ready\n'])
    await own.server.stop()
    const silent = 'coffer_database_silent_seconds'
    const text = await untilTold(own.ops, each => (valueOf(each, silent) ?? 0) > 6)
    expect(await textOf(`${own.ops}/readyz`)).toEqual([503, 'not ready: store\n'])
    const lost = 'coffer_database_failures_total{pool="look",kind="lost"}'
    expect(valueOf(text, lost)).toBeGreaterThan(0)
    expect(valueOf(text, 'coffer_store_rows')).toBeUndefined()
    expect(valueOf(text, 'coffer_sweep_lag_seconds')).toBeUndefined()
    expect(valueOf(text, 'coffer_data_keys')).toBe(1)
    await own.vault.end('SIGKILL')
  }, 300_000)
})
