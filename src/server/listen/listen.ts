/**
 * Listens on a port or a Unix socket.
 *
 * @module
 */
import { lstatSync, readFileSync, unlinkSync } from 'node:fs'
import { connect } from 'node:net'
import { resolve } from 'node:path'
import type { Address, SocketAddress, TcpAddress } from '../../settings/config.ts'
import { idleSecondsMax, socketIdleSecondsMax } from '../../limits/limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { groupIdOf } from '../folder/groups.ts'
import { explainListening, type ListenFlags } from './listen-failure.ts'
import { makeTurns } from './accept-turns.ts'
import type { Handlers } from './handlers.ts'
import { shareSocket } from './shared-socket.ts'
import { adopt, openSocket, placeholder, type ListeningSocket } from './listening-sockets.ts'

/** An open listener. */
export interface Listener {
  /** `http://127.0.0.1:3333`, or the path of the socket. */
  readonly address: string
  /** Accepts no more connections; resolves when those with running requests have ended. */
  readonly stop: () => Promise<void>
  /** Leaves a handed socket to the processes that still have it: nothing more is accepted here. */
  readonly close?: () => void
  /** Reloads its certificates, and makes callers reconnect; absent without TLS. */
  readonly reload?: () => Promise<void>
  /** End of the server's certificate, Unix milliseconds; absent without TLS. */
  readonly certificateUntilMs?: () => number
}

/** RFC 3986 section 3.2.2: an IPv6 address stands in brackets. */
export const inUrl = (host = ''): string => (host.includes(':') ? `[${host}]` : host)

/** The address, as printed. */
export const addressText = (address: Address, hasTls: boolean): string =>
  'socket' in address
    ? address.socket
    : `http${hasTls ? 's' : ''}://${inUrl(address.host)}:${address.port}`

const isSocket = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true

/**
 * True if a process has any kind of socket at that path: a datagram socket, as of a log, refuses
 * connections just like a leftover one. Source: proc(5), `/proc/net/unix`.
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

/** A socket file outlives a killed process (bun#29166); if it answers, it is in use. */
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

/** Options of every server. */
export const commonOf = (handlers: Handlers) => ({
  ...handlers,
  development: false,
  // The server's own 413 has no body; ours is sent before any of the body is read.
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
})

/** Separate, as the types of `Bun.serve` lack this option for a socket. */
const socketTime: object = { idleTimeout: socketIdleSecondsMax }

/** @throws CommandFailure for an obstacle, or the system's own error */
export async function listenAtSocket(
  handlers: Handlers,
  { socket: path, mode, group }: SocketAddress,
): Promise<Listener> {
  await clearSocket(path)
  const groupId = group === undefined ? undefined : groupIdOf(group)
  // The umask of the process restricts the socket to its owner from the start.
  const server = Bun.serve(Object.assign(commonOf(handlers), { unix: path }, socketTime))
  try {
    if (mode !== undefined || groupId !== undefined) shareSocket(path, { mode, groupId })
  } catch (error) {
    await server.stop(true)
    removeSocket(path)
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure('the socket cannot be given to that group: be one of it, or root')
  }
  return { address: path, stop: () => server.stop() }
}

/** The file of a socket outlives its listener. */
export function removeSocket(path: string): void {
  if (isSocket(path)) unlinkSync(path)
}

/** @throws the system's own error if the address is not available */
export function listenOnPort(handlers: Handlers, { host: hostname, port }: TcpAddress): Listener {
  // Otherwise the server would silently share a port with any other process.
  const tcp = { hostname, port, reusePort: false, idleTimeout: idleSecondsMax }
  const server = Bun.serve({ ...commonOf(handlers), ...tcp })
  return {
    address: `http://${inUrl(server.hostname)}:${server.port}`,
    stop: () => server.stop(),
  }
}

const nothing = () => new Response(undefined, { status: 503 })

/**
 * Listens, and stops at once.
 * @throws CommandFailure if the address is not available
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

/** Listens on a handed socket, which already listens, in turns with others that have it. */
export async function listenOnHanded(
  handlers: Handlers,
  handed: ListeningSocket,
  elapsedMs: () => number,
): Promise<Listener> {
  const { host: hostname, port } = placeholder
  const tcp = { hostname, port, reusePort: false, idleTimeout: idleSecondsMax }
  const turns = makeTurns(elapsedMs)
  const server = Bun.serve({ ...commonOf(turns.of(handlers)), ...tcp })
  const accepting = await adopt(handed, server.port ?? port)
  turns.begin(accepting)
  return {
    address: addressText(handed.address, false),
    stop: () => server.stop(),
    close: accepting.stop,
  }
}

/**
 * Opens a socket for workers to accept from.
 * @throws CommandFailure if the address is not available
 */
export async function openForWorkers(asked: TcpAddress): Promise<ListeningSocket> {
  try {
    return openSocket(asked)
  } catch (error) {
    throw await explainListening(error, asked)
  }
}
