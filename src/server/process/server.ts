/**
 * A listening vault: the server, its upkeep, and its orderly end.
 *
 * @module
 */
import { buildApp, type App } from '../listen/app.ts'
import type { Address, TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Deps } from '../../deps.ts'
import { drainMsMax, storeCloseMsMax } from '../../limits/operation-limits.ts'
import type { Send } from '../../egress/send.ts'
import type { OperatedStore } from '../../store/operated.ts'
import {
  startAuditUpkeep,
  startDelivering,
  startSweeping,
  startWritingKeyUses,
  type AuditUpkeep,
} from '../../vault/upkeep.ts'
import type { DeliveryFigures } from '../../webhooks/delivery-figures.ts'
import type { ListeningSocket } from '../listen/listening-sockets.ts'
import { explainListening } from '../listen/listen-failure.ts'
import {
  listenAtSocket,
  listenOnHanded,
  listenOnPort,
  removeSocket,
  type Listener as PlainListening,
} from '../listen/listen.ts'
import { listenWithTls } from '../listen/listen-tls.ts'
import { elapsedMs, wallMs } from './system.ts'

/** A listener for requests. */
export interface ServerListener extends PlainListening {
  /** Removes the file of a Unix socket. */
  readonly clear: () => void
}

/** An application with its upkeep. */
export interface Answering {
  readonly app: App
  readonly deliveries: () => DeliveryFigures
  /** Gives running requests a bounded time to end, and closes the store. */
  readonly end: (listening?: ServerListener) => Promise<void>
}

export interface RunningServer {
  readonly address: string
  /** Accepts no more requests, gives running ones a bounded time, and closes the store. */
  stop(): Promise<void>
}

/** Role of a process that shares port and store with others. */
export interface Sharing {
  /** True for exactly one of them. */
  readonly sweeps: boolean
}

export interface ServerOptions {
  /** Plain HTTP if absent. */
  readonly tls?: TlsFiles | undefined
  /** Socket to listen on, in place of the address. */
  readonly handed?: ListeningSocket | undefined
}

async function listen(
  listener: App['listener'],
  { log }: Pick<Deps, 'log'>,
  address: Address,
  { tls: files, handed }: ServerOptions,
): Promise<PlainListening> {
  if (handed !== undefined) {
    if (files === undefined) return listenOnHanded(listener, handed, elapsedMs)
    const { keepAliveSeconds } = address as Partial<TcpAddress>
    const asked = {
      ...handed.address,
      ...(keepAliveSeconds === undefined ? {} : { keepAliveSeconds }),
    }
    return listenWithTls(listener, asked, { files, handed, log, wallMs, elapsedMs })
  }
  if ('socket' in address) return listenAtSocket(listener, address)
  if (files === undefined) return listenOnPort(listener, address)
  return listenWithTls(listener, address, { files, log, wallMs, elapsedMs })
}

async function listenOrExplain(...asked: Parameters<typeof listen>): Promise<PlainListening> {
  try {
    return await listen(...asked)
  } catch (error) {
    throw await explainListening(error, asked[2])
  }
}

/** @throws CommandFailure if the address is not available */
export async function startListening(
  listener: App['listener'],
  deps: Pick<Deps, 'log'>,
  address: Address,
  options: ServerOptions,
): Promise<ServerListener> {
  const listening = await listenOrExplain(listener, deps, address, options)
  const clear = (): void => {
    if ('socket' in address) removeSocket(address.socket)
  }
  return { ...listening, clear }
}

/** Clears its timer, which would keep a test program with a vault alive. */
async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, waited]).finally(() => clearTimeout(timer))
}

/** Work of a process for its vault, beside answering. */
export interface VaultDuties {
  /** True in the one of several processes that sweeps and signs. */
  readonly isSweeper?: () => boolean
  /** Source: `startSweeping`. */
  readonly scrub?: OperatedStore['scrub']
  /** Without it the audit log is neither signed nor pruned. */
  readonly auditUpkeep?: Pick<AuditUpkeep, 'place' | 'figures' | 'offer'>
  /** Source: `startDelivering`. */
  readonly send?: Send
}

export function startAnswering(
  deps: Deps,
  app: App,
  { isSweeper, scrub, auditUpkeep, send }: VaultDuties = {},
): Answering {
  const stopSweeping = startSweeping(deps, isSweeper, scrub)
  const auditing = auditUpkeep && startAuditUpkeep(deps, { ...auditUpkeep, isSigner: isSweeper })
  const stopWritingKeyUses = startWritingKeyUses(deps, app.writeKeyUses)
  const delivering = startDelivering(deps, isSweeper, send)
  return {
    app,
    deliveries: delivering.figures,
    async end(listening) {
      stopSweeping()
      auditing?.stop()
      stopWritingKeyUses()
      const stopped = app.drain().then(() => listening?.stop())
      await atMost(drainMsMax, stopped)
      listening?.clear()
      await atMost(
        storeCloseMsMax,
        delivering.end().catch(() => {}),
      )
      await atMost(
        storeCloseMsMax,
        deps.audit.flush().then(() => auditing?.signLast()),
      )
      // A store that cannot commit does not close either, but all answered writes are on disk.
      await atMost(storeCloseMsMax, deps.store.close())
    },
  }
}

/** @throws CommandFailure if the address is not available */
export async function startServer(
  deps: Deps,
  address: Address,
  options: ServerOptions = {},
  duties: VaultDuties = {},
): Promise<RunningServer> {
  const app = buildApp(deps)
  const listening = await startListening(app.listener, deps, address, options)
  const answering = startAnswering(deps, app, duties)
  return { address: listening.address, stop: () => answering.end(listening) }
}

/** Resolves on the first signal. Later ones change nothing: a bounded end is under way. */
export const untilSignalled = (signals: readonly NodeJS.Signals[]): Promise<NodeJS.Signals> =>
  new Promise(resolve => {
    for (const signal of signals) process.on(signal, () => resolve(signal))
  })
