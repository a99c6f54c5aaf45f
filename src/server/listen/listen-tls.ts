/**
 * A port with TLS, whose certificates are read anew without an end of anything.
 *
 * The server of the runtime keeps the certificates that it began with (bun#43815), so new ones get
 * a server of their own, which accepts from the socket of the one before: whatever waits in its
 * queue is answered. The one before asks those who call it to come over, by the end of their
 * connection with the next answer. It goes on with connections that are idle until they end by
 * themselves: a caller about to send on one of them would else get no answer.
 * Source: docs/decisions.md, "New certificates".
 * @module
 */
import type { App } from './app.ts'
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { closeSync } from 'node:fs'
import { idleSecondsMax } from '../../limits/limits.ts'
import { keepAliveSlackSeconds } from '../../limits/operation-limits.ts'
import { nextFlight } from '../../lib/serial.ts'
import { andThen } from '../../lib/waiting.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { leave } from './front.ts'
import { commonOf, addressText, inUrl, type Listener } from './listen.ts'
import {
  adopt,
  keepSocket,
  placeholder,
  type ListeningSocket,
  type StopAccepting,
} from './listening-sockets.ts'
import { logNotReloaded, logTrouble, readTls, type Tls } from './tls-files.ts'

type Handlers = App['listener']
type Handler = Handlers['fetch']

/** TLS 1.2, as it stands in a handshake (RFC 5246 appendix A.1). */
const versionMin = 0x03_03

interface TlsListener {
  readonly server: Bun.Server<undefined>
  /** The connections of the caller end with the answer. */
  isLeaving: boolean
}

function leavable(handlers: Handlers, listener: Pick<TlsListener, 'isLeaving'>): Handlers {
  const wrap =
    (handler: Handler): Handler =>
    (request, server) => {
      const response = handler(request, server)
      return listener.isLeaving ? andThen(response, leave) : response
    }
  const routes = Object.entries(handlers.routes).map(([path, handler]) => [path, wrap(handler)])
  return { ...handlers, routes: Object.fromEntries(routes), fetch: wrap(handlers.fetch) }
}

/** As `ERR_OSSL_PEM_BAD_END_LINE`; the codes of system calls begin with E, too. */
const isOfTls = (error: unknown): boolean => systemCodeOf(error)?.startsWith('ERR_') === true

function open(
  handlers: Handlers,
  { host: hostname, port }: TcpAddress,
  tls: Tls,
  isShared: boolean,
): TlsListener {
  const state = { isLeaving: false }
  const { cert, key, ca } = tls
  const gate = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  const tcp = { hostname, port, reusePort: isShared, idleTimeout: idleSecondsMax }
  try {
    const server = Bun.serve({
      ...commonOf(leavable(handlers, state)),
      ...tcp,
      tls: Object.assign({ cert, key, minVersion: versionMin }, gate),
    })
    return Object.assign(state, { server })
  } catch (error) {
    if (systemCodeOf(error)?.startsWith('E') === true && !isOfTls(error)) throw error
    throw new CommandFailure(
      'the TLS library does not take what --tls-cert, --tls-key or --tls-client-ca names',
    )
  }
}

interface TlsOptions {
  readonly files: TlsFiles
  /** Whether other processes of the instance listen on the port as well. */
  readonly isShared: boolean
  /** Accepts in place of a socket of this process. */
  readonly handed?: ListeningSocket | undefined
  readonly log: Log
  /** Unix milliseconds. */
  readonly wallMs: () => number
}

function read({ files, log, wallMs }: TlsOptions): Tls {
  const tls = readTls(files)
  logTrouble(tls, wallMs(), log)
  return tls
}

/** Until then a connection that idles has its end, or an answer that tells it to. */
const waitSecondsOf = ({ keepAliveSeconds = idleSecondsMax }: TcpAddress): number =>
  keepAliveSeconds + keepAliveSlackSeconds

/** A server that accepts, and the certificates that it shows. */
interface Accepting {
  readonly listener: TlsListener
  readonly stopAccepting: StopAccepting
  readonly untilMs: number
}

/** Has a server with the certificates as they are now accept from the socket. */
async function acceptFrom(
  socket: ListeningSocket,
  handlers: Handlers,
  options: TlsOptions,
): Promise<Accepting> {
  const tls = read(options)
  const listener = open(handlers, placeholder, tls, false)
  try {
    const stopAccepting = await adopt(socket, listener.server.port ?? 0)
    return { listener, stopAccepting, untilMs: tls.untilMs }
  } catch (error) {
    await listener.server.stop(true)
    throw error
  }
}

interface Opened extends Pick<Listener, 'address'> {
  readonly first: Accepting
  /** Absent where no other server can take the place of the first. */
  readonly socket?: ListeningSocket
}

async function openFirst(
  handlers: Handlers,
  asked: TcpAddress,
  options: TlsOptions,
): Promise<Opened> {
  const { handed, isShared } = options
  if (handed !== undefined) {
    const first = await acceptFrom(handed, handlers, options)
    return { first, socket: handed, address: addressText(handed.address, true) }
  }
  const tls = read(options)
  const listener = open(handlers, asked, tls, isShared)
  const { untilMs } = tls
  const { hostname, port = asked.port } = listener.server
  const address = `https://${inUrl(hostname)}:${port}`
  if (process.platform !== 'linux') {
    return { first: { listener, untilMs, stopAccepting: () => {} }, address }
  }
  const { kept, stopAccepting } = await keepSocket(port)
  return { first: { listener, stopAccepting, untilMs }, socket: kept, address }
}

/** @throws CommandFailure when the files are not what they must be, or the address cannot be had */
export async function listenWithTls(
  handlers: Handlers,
  asked: TcpAddress,
  options: TlsOptions,
): Promise<Listener> {
  const { handed, log } = options
  const { first, socket, address } = await openFirst(handlers, asked, options)
  const waitMs = waitSecondsOf(asked) * 1_000
  let current = first
  let isStopped = false
  const open = new Set([first.listener])

  async function renew(from: ListeningSocket): Promise<void> {
    if (isStopped) return
    const last = current
    current = await acceptFrom(from, handlers, options)
    open.add(current.listener)
    last.listener.isLeaving = true
    last.stopAccepting()
    log('tls_reloaded', { until: new Date(current.untilMs).toISOString() })
    setTimeout(() => {
      void last.listener.server.stop().then(() => open.delete(last.listener))
    }, waitMs)
  }

  const reload =
    socket && nextFlight(() => renew(socket).catch(error => logNotReloaded(error, log)))
  return {
    address,
    async stop() {
      isStopped = true
      // Else callers would wait in the queue of a socket from which nobody accepts.
      if (socket !== undefined && socket !== handed) closeSync(socket.file)
      await Promise.all([...open].map(({ server }) => server.stop()))
    },
    ...(handed === undefined ? {} : { close: () => current.stopAccepting() }),
    ...(reload === undefined ? {} : { reload }),
    certificateUntilMs: () => current.untilMs,
  }
}
