/**
 * A process that was stopped amid writes and continued, as a virtual machine that is paused and
 * moved, goes on serving: the missed time must not count as a commit that does not end.
 * @module
 */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { commitMsMax } from '../../src/store/core/limits.ts'
import { runCoffer, startCoffer, type Running } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { requestOf } from '../support/vault.ts'
import { until } from '../support/until.ts'
import { isRunning, workersOf } from '../support/worker-processes.ts'

setDefaultTimeout(300_000)

const stoppedMs = commitMsMax + 1_500
const writers = 8

const started: Running[] = []
afterAll(async () => {
  await Promise.all(started.map(server => server.end('SIGKILL')))
})

interface Vault {
  readonly server: Running
  readonly write: () => Promise<number>
}

async function open(args: readonly string[]): Promise<Vault> {
  const data = join(temporaryFolder(), 'data')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const manager = (JSON.parse(made.stdout) as { key: string }).key
  const server = await startCoffer(['serve', '--data', data, '--port', '0', ...args])
  started.push(server)
  const origin = `http://127.0.0.1:${/:(\d+)\s*$/.exec(server.ready)?.[1]}`
  const send = (path: string, key: string, body: unknown) => {
    const { method, headers } = requestOf('POST', path, { key, body })
    return fetch(origin + path, { method, headers, body: JSON.stringify(body) })
  }
  const application = { name: 'writer', type: 'private', permissions: ['token:create'] }
  const answer = await send('/applications', manager, application)
  const { key } = (await answer.json()) as { key: string }
  const token = { type: 'token', data: 'x'.repeat(10_000) }
  const write = async () => (await send('/tokens', key, token)).status
  return { server, write }
}

/** Stops those processes amid writes, for longer than a commit may take, and lets them go on. */
async function stopAmidWrites({ write }: Vault, pids: readonly number[]): Promise<number[]> {
  let isOver = false
  const statuses: number[] = []
  const writing = Array.from({ length: writers }, async () => {
    while (!isOver) statuses.push(await write())
  })
  await until(() => statuses.length > 50)
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  await Bun.sleep(stoppedMs)
  const before = statuses.length
  for (const pid of pids) process.kill(pid, 'SIGCONT')
  await until(() => statuses.length > before + 200)
  isOver = true
  await Promise.all(writing)
  return statuses
}

// proves E1.6, S61
test.concurrent(
  'one process that was stopped amid writes and continued goes on serving',
  async () => {
    const vault = await open([])
    const statuses = await stopAmidWrites(vault, [vault.server.pid])
    expect(statuses.filter(status => status !== 201)).toEqual([])
    expect(isRunning(vault.server.pid)).toBe(true)
    expect(await vault.server.end('SIGTERM')).toBe(0)
  },
)

// proves E1.6
test.concurrent('workers that were stopped amid writes and continued go on serving', async () => {
  const vault = await open(['--workers', '2'])
  const before = workersOf(vault.server.pid)
  const statuses = await stopAmidWrites(vault, [vault.server.pid, ...before.values()])
  expect(statuses.filter(status => status !== 201)).toEqual([])
  expect(workersOf(vault.server.pid)).toEqual(before)
  expect(await vault.server.end('SIGTERM')).toBe(0)
})
