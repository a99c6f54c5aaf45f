/**
 * A server that is started and killed again and again on one data folder.
 * @module
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cofferCommand, foldSetting, runCoffer } from '../../support/coffer-process.ts'
import { openConnection, type Connection, type Target } from '../../support/connection.ts'
import type { Keys } from './client.ts'

const probeMs = 10

export interface Home {
  readonly data: string
  readonly socket: string
  /** Folder into which the binary unpacks its libraries; a kill may hit that moment too. */
  readonly temporary: string
  /** Several workers on a port, instead of one process on the socket. */
  readonly shared?: Shared | undefined
  /** Further variables of the server. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface Shared {
  readonly port: number
  readonly workers: number
}

export interface Ended {
  /** `null` if a signal ended it. */
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stderr: string
}

export interface Server {
  readonly pid: number
  /** `false` if it was killed first. @throws Error if it ended by itself */
  readonly isReady: Promise<boolean>
  /** Time from start to ready; known once it is ready. */
  readyMs(): number | undefined
  /** @throws Error if it had ended by itself */
  kill(): Promise<void>
  /** Ends it with a signal and returns how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
  readonly ended: Promise<Ended>
}

/**
 * @param data the data folder, if it is on a disk of its own
 * @param shared given if the server is to have several workers
 */
export function openHome(folder: string, data = join(folder, 'data'), shared?: Shared): Home {
  const temporary = join(folder, 'tmp')
  mkdirSync(temporary, { mode: 0o700, recursive: true })
  return { data, socket: join(folder, 'socket'), temporary, shared }
}

/** Returns a free port, which nothing else on the machine should take in the meantime. */
export async function freePort(): Promise<number> {
  const probe = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port = 0 } = probe
  await probe.stop(true)
  return port
}

/** Deletes the unpacked libraries, so that the binary unpacks them again. */
export function clearTemporary({ temporary }: Home): void {
  rmSync(temporary, { recursive: true })
  mkdirSync(temporary, { mode: 0o700 })
}

/** Closes stdout, so that nobody can read the ready line, and connects until it succeeds. */
async function canConnect(unix: string, child: Bun.ReadableSubprocess): Promise<boolean> {
  await child.stdout.cancel()
  while (child.exitCode === null && child.signalCode === null) {
    const connection = await openConnection({ unix }).catch(() => undefined)
    connection?.close()
    if (connection !== undefined) return true
    await Bun.sleep(probeMs)
  }
  throw new Error('the server ended when nobody read its lines')
}

const addressOptions = ({ socket, shared }: Home): readonly string[] =>
  shared === undefined
    ? ['--socket', socket]
    : ['--port', String(shared.port), '--workers', String(shared.workers)]

/** @param heeds true to read its lines on stdout; if false, they are never read */
export function startServer(home: Home, heeds = true): Server {
  const { data, socket, temporary, environment } = home
  const startedMs = performance.now()
  let readyMs: number | undefined
  let wasKilled = false
  const command = [...cofferCommand, 'serve', '--data', data, ...addressOptions(home)]
  const child = Bun.spawn(command, {
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    env: { PATH: process.env['PATH'], BUN_TMPDIR: temporary, ...foldSetting(), ...environment },
  })
  const stderr = new Response(child.stderr).text()
  const ended = child.exited.then(async () => {
    const { exitCode, signalCode } = child
    const signal = signalCode === null ? null : String(signalCode)
    return { exitCode, signal, stderr: await stderr }
  })
  const failure = async (): Promise<Error> =>
    new Error(`the server ended by itself: ${JSON.stringify(await ended)}`)
  const waitReady = async (): Promise<boolean> => {
    if (!heeds) return canConnect(socket, child)
    const { done } = await child.stdout.getReader().read()
    if (!done) readyMs = performance.now() - startedMs
    else if (!wasKilled) throw await failure()
    return !done
  }
  return {
    pid: child.pid,
    isReady: waitReady(),
    readyMs: () => readyMs,
    ended,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) throw await failure()
      wasKilled = true
      child.kill('SIGKILL')
      await ended
    },
    async stop(signal = 'SIGTERM') {
      wasKilled = true
      child.kill(signal)
      return ended
    },
  }
}

export const targetOf = ({ socket, shared }: Home): Target =>
  shared === undefined ? { unix: socket } : { hostname: '127.0.0.1', port: shared.port }

export function connectAll(home: Home, count: number): Promise<Connection[]> {
  const target = targetOf(home)
  return Promise.all(Array.from({ length: count }, () => openConnection(target)))
}

const tokenPermissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  name => `token:${name}`,
)

/** Makes a vault with an application of each kind. */
export async function makeVault(home: Home): Promise<Keys> {
  const made = await runCoffer(['init', '--data', home.data, '--json'])
  const { key: management } = JSON.parse(made.stdout) as { key: string }
  const server = startServer(home)
  await server.isReady
  const [connection] = await connectAll(home, 1)
  const make = async (body: Readonly<Record<string, unknown>>): Promise<string> => {
    const answer = await connection?.ask('POST', '/applications', { key: management, body })
    return (JSON.parse(answer?.text ?? '') as { key: string }).key
  }
  const rule = { priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions }
  const keys = {
    management,
    private: await make({ name: 'private', type: 'private', rules: [rule] }),
    public: await make({ name: 'public', type: 'public', permissions: ['token:create'] }),
  }
  connection?.close()
  await server.stop()
  return keys
}
