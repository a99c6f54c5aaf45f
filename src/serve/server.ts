/**
 * A listening vault: the server, the upkeep beside it, and its orderly end.
 *
 * @module
 */
import { lstatSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { buildApp, type App } from './app.ts'
import type { Address, TcpAddress } from '../config.ts'
import type { Deps } from '../deps.ts'
import { drainMsMax, idleSecondsMax, storeCloseMsMax } from '../limits.ts'
import { startSweeping, startWritingKeyUses } from '../upkeep.ts'
import { CommandFailure } from './failure.ts'
import { explainListening, type ListenFlags } from './listen-failure.ts'
import { holdPort } from './port-hold.ts'

export interface RunningServer {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  readonly app: App
  /** Takes no more requests, lets the ones under way end within a bound, closes the store. */
  stop(): Promise<void>
}

const isSocket = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true

const answersAt = (socket: string): Promise<boolean> =>
  new Promise(resolve => {
    const probe = connect(socket)
    probe.once('connect', () => {
      probe.destroy()
      resolve(true)
    })
    probe.once('error', () => resolve(false))
  })

/** A socket file outlives a killed process (bun#29166); one that answers is in use. */
async function clearSocket(socket: string): Promise<void> {
  if (lstatSync(socket, { throwIfNoEntry: false }) === undefined) return
  if (!isSocket(socket)) {
    throw new CommandFailure('a file that is no socket is at that path: choose another --socket')
  }
  if (await answersAt(socket)) {
    throw new CommandFailure('the socket is in use: stop that process or choose another --socket')
  }
  unlinkSync(socket)
}

/** How a process serves that is one of several on the same port and store. */
export interface Sharing {
  /** Exactly one of them does. */
  readonly sweeps: boolean
}

function listen({ listener }: App, address: Address, isShared: boolean) {
  const common = {
    ...listener,
    development: false,
    // The server's own 413 has no body; ours stands before the first byte is read.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  }
  if ('socket' in address) {
    // The process's umask makes the socket its owner's alone from the first moment.
    return Bun.serve({ ...common, unix: address.socket })
  }
  const { host: hostname, port } = address
  // Else the server would share a port that any other process has, in silence.
  const tcp = { reusePort: isShared, idleTimeout: idleSecondsMax }
  return Bun.serve({ ...common, ...tcp, hostname, port })
}

async function listenOrExplain(app: App, address: Address, isShared: boolean) {
  try {
    return listen(app, address, isShared)
  } catch (error) {
    throw await explainListening(error, address)
  }
}

const nothing = () => new Response(undefined, { status: 503 })

/**
 * Listens, and lets go at once.
 * @throws CommandFailure when the address cannot be had
 */
export async function tryListening(address: Address, flags: ListenFlags): Promise<void> {
  try {
    if ('socket' in address) {
      await clearSocket(address.socket)
      await Bun.serve({ unix: address.socket, fetch: nothing }).stop(true)
      if (isSocket(address.socket)) unlinkSync(address.socket)
      return
    }
    const { host: hostname, port } = address
    await Bun.serve({ hostname, port, reusePort: false, fetch: nothing }).stop(true)
  } catch (error) {
    throw await explainListening(error, address, flags)
  }
}

/** What a host was resolved to, such as `localhost`. The server's type does not speak of it. */
const boundHostOf = (server: object): string | undefined =>
  (server as { readonly address?: { readonly address: string } | null }).address?.address

/**
 * A port that nobody has, for processes that share it: they could not tell each other from another
 * instance which shares as well, so whoever starts them makes sure first. It is this process's
 * until it ends.
 * @throws CommandFailure when the address cannot be had
 */
export async function findPort({ host: hostname, port }: TcpAddress): Promise<TcpAddress> {
  try {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: nothing })
    const [host, found] = [boundHostOf(probe) ?? hostname, probe.port ?? port]
    await probe.stop(true)
    // Whoever came in between has it: then this one is refused as if it had come later.
    if (!holdPort(host, found)) {
      throw new CommandFailure('the port is in use: stop that process or choose another --port')
    }
    return { host: hostname, port: found }
  } catch (error) {
    throw await explainListening(error, { host: hostname, port })
  }
}

/**
 * @param sharing `undefined` for a process that has port and store for itself
 * @throws CommandFailure when the address cannot be had
 */
export async function startServer(
  deps: Deps,
  address: Address,
  sharing?: Sharing,
): Promise<RunningServer> {
  if ('socket' in address) await clearSocket(address.socket)
  const app = buildApp(deps)
  const server = await listenOrExplain(app, address, sharing !== undefined)
  const stopSweeping = startSweeping(deps, sharing?.sweeps)
  const stopWritingKeyUses = startWritingKeyUses(deps, app.writeKeyUses)
  return {
    app,
    address: 'socket' in address ? address.socket : `http://${server.hostname}:${server.port}`,
    async stop() {
      stopSweeping()
      stopWritingKeyUses()
      const stopped = app.drain().then(() => server.stop())
      await Promise.race([stopped, Bun.sleep(drainMsMax)])
      if ('socket' in address && isSocket(address.socket)) unlinkSync(address.socket)
      // A store that cannot commit does not close either: what it answered is on disk all the same.
      await Promise.race([deps.store.close(), Bun.sleep(storeCloseMsMax)])
    },
  }
}

/** Resolves on the first of them. A second one changes nothing: the end is under way, bounded. */
export const untilSignalled = (signals: readonly NodeJS.Signals[]): Promise<void> =>
  new Promise(resolve => {
    for (const signal of signals) process.on(signal, () => resolve())
  })
