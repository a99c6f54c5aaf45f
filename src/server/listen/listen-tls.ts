/**
 * A port with TLS, whose certificates are reloaded without interrupting anything.
 *
 * The runtime's server keeps its first certificates (bun#43815), so new ones get a new server,
 * which accepts from the same socket: connections in its queue are not lost. The old server closes
 * each connection with its next answer, so that callers reconnect. It leaves idle connections open
 * until they time out: a caller about to send on one would otherwise get no answer.
 * Source: docs/decisions.md, "New certificates".
 * @module
 */
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { closeSync } from 'node:fs'
import { idleSecondsMax } from '../../limits/limits.ts'
import { keepAliveSlackSeconds } from '../../limits/operation-limits.ts'
import { nextFlight } from '../../lib/serial.ts'
import { andThen } from '../../lib/waiting.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { makeTurns } from './accept-turns.ts'
import { leave } from './front.ts'
import { wrapHandlers, type Handlers } from './handlers.ts'
import { commonOf, addressText, inUrl, type Listener } from './listen.ts'
import {
  adopt,
  openSocket,
  placeholder,
  type ListeningSocket,
  type Accepting,
} from './listening-sockets.ts'
import { logNotReloaded, logTrouble, readTls, type Tls } from './tls-files.ts'

/** TLS 1.2, as encoded in a handshake (RFC 5246 appendix A.1). */
const versionMin = 0x03_03

interface TlsListener {
  readonly server: Bun.Server<undefined>
  /** True once each connection closes with its next answer. */
  endsConnections: boolean
}

/** Returns handlers that answer alike, and end connections once the listener does. */
const leavable = (handlers: Handlers, listener: Pick<TlsListener, 'endsConnections'>): Handlers =>
  wrapHandlers(handlers, handler => (request, server) => {
    const response = handler(request, server)
    return listener.endsConnections ? andThen(response, leave) : response
  })

/** Such as `ERR_OSSL_PEM_BAD_END_LINE`; codes of system calls begin with E, too. */
const isOfTls = (error: unknown): boolean => systemCodeOf(error)?.startsWith('ERR_') === true

function openListener(
  handlers: Handlers,
  { host: hostname, port }: TcpAddress,
  tls: Tls,
): TlsListener {
  const state = { endsConnections: false }
  const { cert, key, ca } = tls
  const clientCertificates =
    ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  const tcp = { hostname, port, reusePort: false, idleTimeout: idleSecondsMax }
  try {
    const server = Bun.serve({
      ...commonOf(leavable(handlers, state)),
      ...tcp,
      tls: Object.assign({ cert, key, minVersion: versionMin }, clientCertificates),
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
  /** Socket to accept from, in turns with others that have it, in place of one of this process. */
  readonly handed?: ListeningSocket | undefined
  readonly log: Log
  /** Unix milliseconds. */
  readonly wallMs: () => number
  readonly elapsedMs: () => number
}

function read({ files, log, wallMs }: TlsOptions): Tls {
  const tls = readTls(files)
  logTrouble(tls, wallMs(), log)
  return tls
}

/** By then an idle connection has timed out, or was closed with an answer. */
const waitSecondsOf = ({ keepAliveSeconds = idleSecondsMax }: TcpAddress): number =>
  keepAliveSeconds + keepAliveSlackSeconds

/** An accepting server, and the end of its certificate. */
interface Serving {
  readonly listener: TlsListener
  readonly accepting?: Accepting
  readonly untilMs: number
}

/** Starts a server with the current certificates that accepts from the socket. */
async function acceptFrom(
  socket: ListeningSocket,
  handlers: Handlers,
  options: TlsOptions,
): Promise<Serving> {
  const { handed, elapsedMs } = options
  const tls = read(options)
  const turns = handed && makeTurns(elapsedMs)
  const listener = openListener(turns?.of(handlers) ?? handlers, placeholder, tls)
  try {
    const accepting = await adopt(socket, listener.server.port ?? 0)
    turns?.begin(accepting)
    return { listener, accepting, untilMs: tls.untilMs }
  } catch (error) {
    await listener.server.stop(true)
    throw error
  }
}

interface Opened extends Pick<Listener, 'address'> {
  readonly first: Serving
  /** Absent if no later server can replace the first. */
  readonly socket?: ListeningSocket
}

async function openFirst(
  handlers: Handlers,
  asked: TcpAddress,
  options: TlsOptions,
): Promise<Opened> {
  const { handed } = options
  if (handed !== undefined || process.platform === 'linux') {
    const socket = handed ?? openSocket(asked)
    const first = await acceptFrom(socket, handlers, options)
    return { first, socket, address: addressText(socket.address, true) }
  }
  const tls = read(options)
  const listener = openListener(handlers, asked, tls)
  const { hostname, port = asked.port } = listener.server
  const address = `https://${inUrl(hostname)}:${port}`
  return { first: { listener, untilMs: tls.untilMs }, address }
}

/** @throws CommandFailure if the files are invalid, or the address is not available */
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
  const listeners = new Set([first.listener])

  async function renew(from: ListeningSocket): Promise<void> {
    if (isStopped) return
    const last = current
    const next = await acceptFrom(from, handlers, options)
    if (isStopped) return next.listener.server.stop(true)
    current = next
    listeners.add(current.listener)
    last.listener.endsConnections = true
    last.accepting?.stop()
    // The last one may have been woken for a connection that it has not accepted.
    current.accepting?.goLast()
    log('tls_reloaded', { until: new Date(current.untilMs).toISOString() })
    setTimeout(() => {
      void last.listener.server.stop().then(() => listeners.delete(last.listener))
    }, waitMs)
  }

  const close = (): void => {
    isStopped = true
    current.accepting?.stop()
  }
  const reload =
    socket && nextFlight(() => renew(socket).catch(error => logNotReloaded(error, log)))
  return {
    address,
    async stop() {
      isStopped = true
      // Otherwise callers would wait in the queue of a socket that nobody accepts from.
      if (socket !== undefined && socket !== handed) closeSync(socket.file)
      await Promise.all([...listeners].map(({ server }) => server.stop()))
    },
    ...(handed === undefined ? {} : { close }),
    ...(reload === undefined ? {} : { reload }),
    certificateUntilMs: () => current.untilMs,
  }
}
