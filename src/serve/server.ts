/**
 * A listening vault: the server, the upkeep beside it, and its orderly end.
 *
 * @module
 */
import { buildApp, type App } from './app.ts'
import type { Address, TlsFiles } from '../config.ts'
import type { Deps } from '../deps.ts'
import { drainMsMax, storeCloseMsMax } from '../limits.ts'
import { startSweeping, startWritingKeyUses } from '../upkeep.ts'
import { explainListening } from './listen-failure.ts'
import { listenAtSocket, listenOnPort, removeSocket, type Listening } from './listen.ts'
import { listenWithTls } from './listen-tls.ts'
import { wallMs } from './system.ts'

export interface RunningServer {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  readonly app: App
  /** Reads certificates anew; where there are none it does nothing. */
  readonly reload: () => void
  /** Takes no more requests, lets the ones under way end within a bound, closes the store. */
  stop(): Promise<void>
}

/** How a process serves that is one of several on the same port and store. */
export interface Sharing {
  /** Exactly one of them does. */
  readonly sweeps: boolean
}

export interface ServerOptions {
  /** `undefined` for a process that has port and store for itself. */
  readonly sharing?: Sharing | undefined
  /** Plain HTTP where it is absent. */
  readonly tls?: TlsFiles | undefined
}

async function listen(
  { listener }: App,
  { log }: Deps,
  address: Address,
  { sharing, tls: files }: ServerOptions,
): Promise<Listening> {
  if ('socket' in address) return listenAtSocket(listener, address.socket)
  const isShared = sharing !== undefined
  if (files === undefined) return listenOnPort(listener, address, isShared)
  return listenWithTls(listener, address, { files, isShared, log, wallMs })
}

async function listenOrExplain(...asked: Parameters<typeof listen>): Promise<Listening> {
  try {
    return await listen(...asked)
  } catch (error) {
    throw await explainListening(error, asked[2])
  }
}

/** @throws CommandFailure when the address cannot be had */
export async function startServer(
  deps: Deps,
  address: Address,
  options: ServerOptions = {},
): Promise<RunningServer> {
  const { sharing } = options
  const app = buildApp(deps)
  const listening = await listenOrExplain(app, deps, address, options)
  const stopSweeping = startSweeping(deps, sharing?.sweeps)
  const stopWritingKeyUses = startWritingKeyUses(deps, app.writeKeyUses)
  return {
    app,
    address: listening.address,
    reload: () => listening.reload?.(),
    async stop() {
      stopSweeping()
      stopWritingKeyUses()
      const stopped = app.drain().then(() => listening.stop())
      await Promise.race([stopped, Bun.sleep(drainMsMax)])
      if ('socket' in address) removeSocket(address.socket)
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
