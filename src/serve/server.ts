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
import { CommandFailure, systemCodeOf } from './failure.ts'
import { holdPort } from './port-hold.ts'

/** Where requests come in. */
export interface Listening {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  /** Takes no more connections; resolves when the ones that are left have ended. */
  readonly stop: () => Promise<void>
  /** Takes away the file of a socket. */
  readonly clear: () => void
}

/** What answers requests, and the upkeep beside it. */
export interface Answering {
  readonly app: App
  /** Lets the requests under way end within a bound, and closes the store. */
  readonly end: (listening?: Listening) => Promise<void>
}

export interface RunningServer {
  readonly address: string
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

const portInUse = () =>
  new CommandFailure('the port is in use: stop that process or choose another --port')

function listenFailure(error: unknown): unknown {
  const code = systemCodeOf(error)
  if (code === 'EADDRINUSE') return portInUse()
  // Whatever else the system says of an address, another one is the way out.
  return code === undefined
    ? error
    : new CommandFailure('cannot listen there: choose another --host, --port or --socket')
}

/** How a process serves that is one of several on the same port and store. */
export interface Sharing {
  /** Exactly one of them does. */
  readonly sweeps: boolean
}

function listen(listener: App['listener'], address: Address, isShared: boolean) {
  const common = {
    ...listener,
    development: false,
    // The server's own 413 has no body; ours stands before the first byte is read.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  }
  try {
    if ('socket' in address) {
      // The process's umask makes the socket its owner's alone from the first moment.
      return Bun.serve({ ...common, unix: address.socket })
    }
    const { host: hostname, port } = address
    // Else the server would share a port that any other process has, in silence.
    const tcp = { reusePort: isShared, idleTimeout: idleSecondsMax }
    return Bun.serve({ ...common, ...tcp, hostname, port })
  } catch (error) {
    throw listenFailure(error)
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
    const fetch = () => new Response(undefined, { status: 503 })
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch })
    const [host, found] = [boundHostOf(probe) ?? hostname, probe.port ?? port]
    await probe.stop(true)
    // Whoever came in between has it: then this one is refused as if it had come later.
    if (!holdPort(host, found)) throw portInUse()
    return { host: hostname, port: found }
  } catch (error) {
    throw listenFailure(error)
  }
}

/** @throws CommandFailure when the address cannot be had */
export async function startListening(
  listener: App['listener'],
  address: Address,
  isShared: boolean,
): Promise<Listening> {
  if ('socket' in address) await clearSocket(address.socket)
  const server = listen(listener, address, isShared)
  return {
    address: 'socket' in address ? address.socket : `http://${server.hostname}:${server.port}`,
    stop: () => server.stop(),
    clear() {
      if ('socket' in address && isSocket(address.socket)) unlinkSync(address.socket)
    },
  }
}

/** @param sweeps of several processes that share a store, one does */
export function startAnswering(deps: Deps, app: App, sweeps?: boolean): Answering {
  const stopSweeping = startSweeping(deps, sweeps)
  const stopWritingKeyUses = startWritingKeyUses(deps, app.writeKeyUses)
  return {
    app,
    async end(listening) {
      stopSweeping()
      stopWritingKeyUses()
      const stopped = app.drain().then(() => listening?.stop())
      await Promise.race([stopped, Bun.sleep(drainMsMax)])
      listening?.clear()
      // A store that cannot commit does not close either: what it answered is on disk all the same.
      await Promise.race([deps.store.close(), Bun.sleep(storeCloseMsMax)])
    },
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
  const app = buildApp(deps)
  const listening = await startListening(app.listener, address, sharing !== undefined)
  const answering = startAnswering(deps, app, sharing?.sweeps)
  return { address: listening.address, stop: () => answering.end(listening) }
}

/** Resolves on the first of them. A second one changes nothing: the end is under way, bounded. */
export const untilSignalled = (signals: readonly NodeJS.Signals[]): Promise<void> =>
  new Promise(resolve => {
    for (const signal of signals) process.on(signal, () => resolve())
  })
