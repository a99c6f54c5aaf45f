/**
 * A port with TLS, whose certificates are read anew without an end of anything.
 *
 * The server of the runtime keeps the certificates that it began with (bun#43815), so new ones get
 * a listener of their own on the same port, in the same process. The kernel then gives it what
 * comes; the one before asks those who call it to come over, by the end of their connection with
 * the next answer, and leaves the port. It goes on with connections that are idle until they end by
 * themselves: a caller about to send on one of them would else get no answer.
 * @module
 */
import type { App } from './app.ts'
import type { TcpAddress, TlsFiles } from '../../settings/config.ts'
import type { Log } from '../../deps.ts'
import { idleSecondsMax } from '../../limits/limits.ts'
import {
  listenerCloseMs,
  listenerSettleMs,
  keepAliveSlackSeconds,
} from '../../limits/operation-limits.ts'
import { andThen } from '../../lib/waiting.ts'
import { nextFlight } from '../../lib/serial.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { leave } from './front.ts'
import { adopt, placeholder, type HandedSocket } from './handed-socket.ts'
import { commonOf, findPort, addressText, inUrl, type Listener } from './listen.ts'
import {
  listenersOn,
  openNowhere,
  preferNewest,
  refuseNew,
  stopListening,
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

/** Others than Linux do not tell two listeners on a port apart. */
const isRenewable = process.platform === 'linux'

/** As `ERR_OSSL_PEM_BAD_END_LINE`; the codes of system calls begin with E, too. */
const isOfTls = (error: unknown): boolean => systemCodeOf(error)?.startsWith('ERR_') === true

function open(handlers: Handlers, { host: hostname, port }: TcpAddress, tls: Tls): TlsListener {
  const state = { isLeaving: false }
  const { cert, key, ca } = tls
  const gate = ca === undefined ? {} : { ca, requestCert: true, rejectUnauthorized: true }
  const tcp = { hostname, port, reusePort: isRenewable, idleTimeout: idleSecondsMax }
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

/** Has a listener leave its port; resolves when another one alone has it. */
async function leavePort(
  listener: TlsListener,
  files: readonly number[],
  nowhere: number,
): Promise<void> {
  listener.isLeaving = true
  await Bun.sleep(listenerCloseMs)
  for (const file of files) refuseNew(file)
  await Bun.sleep(listenerSettleMs)
  for (const file of files) stopListening(file, nowhere)
}

interface TlsOptions {
  readonly files: TlsFiles
  /** Whether other processes of the instance listen on the port as well. */
  readonly isShared: boolean
  /** Accepts in place of a socket of this process. */
  readonly handed?: HandedSocket | undefined
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

/** A handed socket stays as it is while one listener after the other accepts from it. */
async function listenOnHanded(
  handlers: Handlers,
  asked: TcpAddress,
  handed: HandedSocket,
  options: TlsOptions,
): Promise<Listener> {
  const waitSeconds = waitSecondsOf(asked)
  const begin = async () => {
    const tls = read(options)
    const listener = open(handlers, placeholder, tls)
    const close = await adopt(handed, listener.server.port ?? 0)
    return { listener, close, tls }
  }
  let current = await begin()
  const leaving = new Set([current.listener])

  async function renew(): Promise<void> {
    const last = current
    current = await begin()
    leaving.add(current.listener)
    last.listener.isLeaving = true
    last.close()
    options.log('tls_reloaded', { until: new Date(current.tls.untilMs).toISOString() })
    setTimeout(() => {
      void last.listener.server.stop().then(() => leaving.delete(last.listener))
    }, waitSeconds * 1_000)
  }

  return {
    address: addressText(handed.address, true),
    stop: async () => {
      await Promise.all([...leaving].map(({ server }) => server.stop()))
    },
    close: () => current.close(),
    certificateUntilMs: () => current.tls.untilMs,
    reload: nextFlight(() => renew().catch(error => logNotReloaded(error, options.log))),
  }
}

/** @throws CommandFailure when the files are not what they must be, or the address cannot be had */
export async function listenWithTls(
  handlers: Handlers,
  asked: TcpAddress,
  options: TlsOptions,
): Promise<Listener> {
  if (options.handed !== undefined) return listenOnHanded(handlers, asked, options.handed, options)
  const { isShared, log } = options
  const first = read(options)
  const waitSeconds = waitSecondsOf(asked)
  const address = isShared || !isRenewable ? asked : await findPort(asked)
  let current = open(handlers, address, first)
  let { untilMs } = first
  const { hostname, port = address.port } = current.server
  const leaving = new Set<TlsListener>([current])
  if (!isShared) for (const file of listenersOn(port)) preferNewest(file)
  const nowhere = openNowhere()

  async function renew(): Promise<void> {
    const tls = read(options)
    const before = listenersOn(port)
    const last = current
    current = open(handlers, { host: address.host, port }, tls)
    untilMs = tls.untilMs
    leaving.add(current)
    await leavePort(last, before, nowhere)
    log('tls_reloaded', { until: new Date(tls.untilMs).toISOString() })
    setTimeout(
      () => {
        void last.server.stop().then(() => leaving.delete(last))
      },
      (waitSeconds + 1) * 1_000,
    )
  }

  const reload = nextFlight(async () => {
    try {
      await renew()
    } catch (error) {
      logNotReloaded(error, log)
    }
  })
  return {
    address: `https://${inUrl(hostname)}:${port}`,
    async stop() {
      await Promise.all([...leaving].map(({ server }) => server.stop()))
    },
    ...(isRenewable ? { reload } : {}),
    certificateUntilMs: () => untilMs,
  }
}
