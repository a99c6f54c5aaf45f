/**
 * A serving process and the world around it: signals, and readers of its lines that go away.
 * Hardening H164, H165.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { runCoffer, startCoffer, withoutWarnings } from '../support/coffer-process.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { parseAnswers, requestText } from '../support/wire.ts'
import { workersOf } from '../support/worker-processes.ts'

let root: string
let key: string
beforeAll(async () => {
  root = temporaryFolder()
  const { stdout } = await runCoffer(['init', '--data', join(root, 'made'), '--json'])
  key = (JSON.parse(stdout) as { key: string }).key
})

const copyOfMade = (name: string): string => {
  cpSync(join(root, 'made'), join(root, name), { recursive: true })
  return join(root, name)
}

const portOf = (line: string): number => Number(/:(\d+)\s*$/.exec(line)?.[1])

const own = () => requestText('GET', '/applications/key', { 'SVC-API-KEY': key })

interface Connection {
  readonly socket: Socket
  /** Returns all statuses, once that many came or the connection has ended. */
  statuses(count: number): Promise<number[]>
}

function open(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    let text = ''
    let isClosed = false
    const socket = connect(port, '127.0.0.1')
    socket.on('data', data => (text += data.toString('latin1')))
    socket.on('close', () => (isClosed = true))
    socket.on('error', reject)
    const statuses = async (count: number) => {
      while (parseAnswers(text).length < count && !isClosed) await Bun.sleep(5)
      return parseAnswers(text).map(({ status }) => status)
    }
    socket.on('connect', () => resolve({ socket, statuses }))
  })
}

describe('SIGTERM', () => {
  // proves H164, H165
  test('sent twice lets what is under way end, answers the rest 503, exits with 0', async () => {
    const server = await startCoffer(['serve', '--data', copyOfMade('drained'), '--port', '0'])
    const port = portOf(server.ready)
    const [early, idle] = [await open(port), await open(port)]
    idle.socket.write(own())
    expect(await idle.statuses(1)).toEqual([200])
    const body = JSON.stringify({ name: 'late', type: 'public', permissions: ['token:create'] })
    const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' }
    const text = requestText('POST', '/applications', headers, body)
    early.socket.write(text.slice(0, -10))
    // A request that is answered after it on another connection was read after it.
    const statusNow = async () => {
      const { socket, statuses } = await open(port)
      socket.write(own())
      return (await statuses(1))[0]
    }
    expect([await statusNow(), await statusNow()]).toEqual([200, 200])
    process.kill(server.pid, 'SIGTERM')
    await until(async () => (await statusNow()) === 503)
    process.kill(server.pid, 'SIGTERM')
    idle.socket.write(own())
    expect(await idle.statuses(2)).toEqual([200, 503])
    expect(await statusNow()).toBe(503)
    early.socket.write(text.slice(-10))
    expect(await early.statuses(1)).toEqual([201])
    expect(await server.exited).toBe(0)
    expect(withoutWarnings(await server.stderr)).toBe('')
  })
})

// proves H165
test('SIGHUP, when the terminal goes away, ends nothing', async () => {
  const server = await startCoffer(['serve', '--data', copyOfMade('hung-up'), '--port', '0'])
  process.kill(server.pid, 'SIGHUP')
  await Bun.sleep(50)
  const { socket, statuses } = await open(portOf(server.ready))
  socket.write(own())
  expect(await statuses(1)).toEqual([200])
  socket.destroy()
  expect(await server.end('SIGTERM')).toBe(0)
})

describe('signals that mean something to other programs', () => {
  const meaningless = ['SIGUSR1', 'SIGUSR2', 'SIGALRM', 'SIGPIPE'] as const

  // proves H165
  test.each([
    ['one process', []],
    ['three workers', ['--workers', '3']],
  ])('end nothing of %s', async (name, flags) => {
    const data = copyOfMade(name.replace(' ', '-'))
    const server = await startCoffer(['serve', '--data', data, '--port', '0', ...flags])
    const processes = [server.pid, ...workersOf(server.pid).values()]
    expect(processes.length).toBe(flags.length === 0 ? 1 : 4)
    for (const signal of meaningless) for (const each of processes) process.kill(each, signal)
    for (const each of [1, 2, 3]) {
      const { socket, statuses } = await open(portOf(server.ready))
      socket.write(own())
      expect([each, await statuses(1)]).toEqual([each, [200]])
      socket.destroy()
    }
    expect([server.pid, ...workersOf(server.pid).values()]).toEqual(processes)
    expect(await server.end('SIGTERM')).toBe(0)
  })

  test('end no throw-away vault', async () => {
    const vault = await startCoffer(['dev', '--port', '0', '--json'])
    for (const signal of meaningless) process.kill(vault.pid, signal)
    const { base_url: url } = JSON.parse(vault.ready) as { base_url: string }
    expect((await fetch(`${url}/applications/key`)).status).toBe(401)
    expect(await vault.end('SIGTERM')).toBe(0)
  })
})

/** The inner shell becomes the server; the outer one knows how it ended. */
const shellOf = (redirection: string, after: string) =>
  `(sh -c 'echo $$ >"$0"; exec "$@" ${redirection}' "$0" "$@"; echo $? >"$0.exit") ${after}`

// proves H165
test.each([
  ['closed', '>&- 2>&-', ''],
  ['a pipe that nobody reads', '2>"$0.err"', '| true'],
  ['a full device', '>/dev/full 2>/dev/full', ''],
])('stdout and stderr that are %s end nothing', async (name, redirection, after) => {
  const data = copyOfMade(name.replaceAll(' ', '-'))
  const [unix, pidFile] = [`${data}.sock`, `${data}.pid`]
  const main = join(import.meta.dir, '../../src/main.ts')
  const args = [process.execPath, main, 'serve', '--data', data, '--socket', unix]
  const child = Bun.spawn(['sh', '-c', shellOf(redirection, after), pidFile, ...args], {
    stdin: 'ignore',
    env: { PATH: process.env['PATH'] },
  })
  const headers = { 'SVC-API-KEY': key }
  const ask = () =>
    fetch('http://localhost/applications/key', { unix, headers }).then(
      answer => answer.status,
      () => 0,
    )
  await until(async () => (await ask()) !== 0)
  await Bun.sleep(100)
  expect([await ask(), await ask()]).toEqual([200, 200])
  process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGTERM')
  while (!existsSync(`${pidFile}.exit`)) await Bun.sleep(5)
  await child.exited
  expect(readFileSync(`${pidFile}.exit`, 'utf8')).toBe('0\n')
  const err = existsSync(`${pidFile}.err`) ? readFileSync(`${pidFile}.err`, 'utf8') : ''
  expect(withoutWarnings(err)).toBe('')
})
