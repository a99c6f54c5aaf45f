/**
 * Where a server listens: on a port, which it has for itself or shares, or on a Unix socket.
 *
 * @module
 */
import { chmodSync, chownSync, lstatSync, readFileSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import type { App } from './app.ts'
import type { Address, SocketAddress, TcpAddress } from '../../settings/config.ts'
import { idleSecondsMax, socketIdleSecondsMax } from '../../limits/limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { groupIdOf } from '../folder/groups.ts'
import { explainListening, portTaken, servingFlags, type ListenFlags } from './listen-failure.ts'
import { adopt, placeholder, type ListeningSocket } from './listening-sockets.ts'
import { holdPort } from './port-hold.ts'

/** A listener that is open. */
export interface Listener {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  /** Takes no more connections; resolves when those that have something under way have ended. */
  readonly stop: () => Promise<void>
  /** Leaves a handed socket to the next process: nothing more is accepted here. */
  readonly close?: () => void
  /** Reads its certificates anew, and has callers come over; absent where there are none. */
  readonly reload?: () => Promise<void>
  /** When the certificate of the server ends, Unix milliseconds; absent where there is none. */
  readonly certificateUntilMs?: () => number
}

/** RFC 3986 section 3.2.2: an address of IPv6 stands in brackets. */
export const inUrl = (host = ''): string => (host.includes(':') ? `[${host}]` : host)

/** As it is printed. */
export const addressText = (address: Address, hasTls: boolean): string =>
  'socket' in address
    ? address.socket
    : `http${hasTls ? 's' : ''}://${inUrl(address.host)}:${address.port}`

type Handlers = App['listener']

const isSocket = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true

/**
 * Whether a process has a socket of that path, of whatever kind: that of a log takes no connections
 * and so refuses them as one does that was left. Source: proc(5), `/proc/net/unix`.
 */
function isHeld(socket: string): boolean {
  try {
    const lines = readFileSync('/proc/net/unix', 'utf8').split('\n')
    return lines.some(line => line.endsWith(` ${socket}`) || line.endsWith(` ${resolve(socket)}`))
  } catch {
    return false
  }
}

const answersAt = (socket: string): Promise<boolean> =>
  new Promise(done => {
    const probe = connect(socket)
    probe.once('connect', () => {
      probe.destroy()
      done(true)
    })
    probe.once('error', () => done(false))
  })

/** A socket file outlives a killed process (bun#29166); one that answers is in use. */
async function clearSocket(socket: string): Promise<void> {
  if (lstatSync(socket, { throwIfNoEntry: false }) === undefined) return
  if (!isSocket(socket)) {
    throw new CommandFailure('a file that is no socket is at that path: choose another --socket')
  }
  if (isHeld(socket) || (await answersAt(socket))) {
    throw new CommandFailure('the socket is in use: stop that process or choose another --socket')
  }
  unlinkSync(socket)
}

/** What every server is given. */
export const commonOf = (handlers: Handlers) => ({
  ...handlers,
  development: false,
  // The server's own 413 has no body; ours stands before the first byte is read.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
})

/** Apart, as the types of `Bun.serve` know of no such time for a socket. */
const socketTime: object = { idleTimeout: socketIdleSecondsMax }

/** @throws CommandFailure for what is in the way, and the system's own error */
export async function listenAtSocket(
  handlers: Handlers,
  { socket: path, mode, group }: SocketAddress,
): Promise<Listener> {
  await clearSocket(path)
  const groupId = group === undefined ? undefined : groupIdOf(group)
  // The process's umask makes the socket its owner's alone from the first moment.
  const server = Bun.serve(Object.assign(commonOf(handlers), { unix: path }, socketTime))
  try {
    if (groupId !== undefined) chownSync(path, -1, groupId)
    if (mode !== undefined) chmodSync(path, mode)
  } catch {
    await server.stop(true)
    removeSocket(path)
    throw new CommandFailure('the socket cannot be given to that group: be one of it, or root')
  }
  return { address: path, stop: () => server.stop() }
}

/** The file of a socket stays behind what listened there. */
export function removeSocket(path: string): void {
  if (isSocket(path)) unlinkSync(path)
}

/**
 * @param isShared whether other processes of the instance listen on the port as well
 * @throws the system's own error when the address cannot be had
 */
export function listenOnPort(
  handlers: Handlers,
  { host: hostname, port }: TcpAddress,
  isShared: boolean,
): Listener {
  // Else the server would share a port that any other process has, in silence.
  const tcp = { hostname, port, reusePort: isShared, idleTimeout: idleSecondsMax }
  const server = Bun.serve({ ...commonOf(handlers), ...tcp })
  return {
    address: `http://${inUrl(server.hostname)}:${server.port}`,
    stop: () => server.stop(),
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
      if (address.group !== undefined) groupIdOf(address.group)
      await Bun.serve({ unix: address.socket, fetch: nothing }).stop(true)
      removeSocket(address.socket)
      return
    }
    const { host: hostname, port } = address
    await Bun.serve({ hostname, port, reusePort: false, fetch: nothing }).stop(true)
  } catch (error) {
    throw await explainListening(error, address, flags)
  }
}

/** Listens on a socket that was handed over, and listens already. */
export async function listenOnHanded(
  handlers: Handlers,
  handed: ListeningSocket,
): Promise<Listener> {
  const { host: hostname, port } = placeholder
  const tcp = { hostname, port, reusePort: false, idleTimeout: idleSecondsMax }
  const server = Bun.serve({ ...commonOf(handlers), ...tcp })
  const close = await adopt(handed, server.port ?? port)
  return { address: addressText(handed.address, false), stop: () => server.stop(), close }
}

/** What a host was resolved to, such as `localhost`. The server's type does not speak of it. */
const boundHostOf = (server: object): string | undefined =>
  (server as { readonly address?: { readonly address: string } | null }).address?.address

/**
 * A port that nobody has, for processes that share it: they could not tell each other from another
 * instance which shares as well, so the process that starts them makes sure first. It is this
 * process's until it ends.
 * @throws CommandFailure when the address cannot be had
 */
export async function findPort(asked: TcpAddress): Promise<TcpAddress> {
  const { host: hostname, port } = asked
  try {
    const probe = Bun.serve({ hostname, port, reusePort: false, fetch: nothing })
    const [host, found] = [boundHostOf(probe) ?? hostname, probe.port ?? port]
    await probe.stop(true)
    // The process that came in between has it: then this one is refused as if it had come later.
    if (!holdPort(host, found)) {
      throw new CommandFailure(portTaken(found, servingFlags.port))
    }
    return { ...asked, port: found }
  } catch (error) {
    throw await explainListening(error, { host: hostname, port })
  }
}
