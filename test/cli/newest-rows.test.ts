/**
 * A vault whose newest rows were damaged while it did not run.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { tamper } from '../store/tamper.ts'

interface Made {
  readonly data: string
  readonly key: string
}

async function serving<T>(
  data: string,
  workers: number,
  use: (url: string) => Promise<T>,
): Promise<{ readonly used: T; readonly events: readonly unknown[] }> {
  const words = ['serve', '--data', data, '--port', '0', '--workers', String(workers)]
  const server = await startCoffer(words)
  const used = await use(/http:\/\/127\.0\.0\.1:\d+/.exec(server.ready)?.[0] ?? '')
  expect(await server.end('SIGTERM')).toBe(0)
  const lines = withoutWarnings(await server.stderr)
    .split('\n')
    .filter(line => line !== '')
  return { used, events: lines.map(line => (JSON.parse(line) as { event: unknown }).event) }
}

/** Makes a vault with an application of its own, which stands in the last row. */
async function makeVault(): Promise<Made> {
  const data = join(temporaryFolder(), 'vault')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key } = JSON.parse(made.stdout) as { key: string }
  await serving(data, 1, async url => {
    const body = JSON.stringify({ name: 'last', type: 'private', permissions: ['token:read'] })
    const headers = { 'SVC-API-KEY': key, 'content-type': 'application/json' }
    const answer = await fetch(`${url}/applications`, { method: 'POST', headers, body })
    expect(answer.status).toBe(201)
  })
  return { data, key }
}

const list = ({ key }: Made, url: string) =>
  fetch(`${url}/applications`, { headers: { 'SVC-API-KEY': key } })

describe('a row that is gone', () => {
  test.each([1, 2])('is told of once by each process, and others are served: %i', async workers => {
    const made = await makeVault()
    const whole = await serving(made.data, workers, async url => (await list(made, url)).status)
    expect(whole).toEqual({ used: 200, events: [] })
    await tamper(join(made.data, 'store'), ({ rows }) => {
      for (const key of rows.getKeys({ reverse: true, limit: 1 })) rows.removeSync(key)
    })
    const { used, events } = await serving(made.data, workers, async url => {
      const statuses: number[] = []
      for (let count = 0; count < 20; count += 1) statuses.push((await list(made, url)).status)
      return new Set(statuses)
    })
    expect(used).toEqual(new Set([200]))
    expect(events).toEqual(Array.from({ length: workers }, () => 'newest_rows_damaged'))
    const { exitCode } = await runCoffer(['verify', '--data', made.data])
    expect(exitCode).not.toBe(0)
  })
})
