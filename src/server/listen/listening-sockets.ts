/**
 * Listening sockets that outlive the server that accepts from them: one handed over by a service
 * manager, so that callers who connect between two processes wait in its queue; one from which all
 * workers of an instance accept; or one of this process, so that a server with new certificates can
 * replace another. None is opened with SO_REUSEPORT, so the kernel lets nobody listen beside it.
 *
 * The runtime's server takes no open file (bun#36491), so it first listens on a placeholder, whose
 * file number the socket then takes over; the runtime's poll, which forgets a replaced socket, gets
 * the same registration for the new one. Linux only.
 * Source: sd_listen_fds(3); socket(7), SO_REUSEPORT; dup2(2); proc(5), `/proc/PID/fdinfo`.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import type { TcpAddress } from '../../settings/config.ts'
import { invariant } from '../../lib/errors.ts'
import { findInLibc } from '../../lib/libc.ts'
import { adoptionTriesMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'

const { i32, ptr: pointer } = FFIType
const calls = {
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  fcntl: { args: [i32, i32, i32], returns: i32 },
  dup2: { args: [i32, i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
} as const

let found: ReturnType<typeof findInLibc<typeof calls>>
const libcOf = () => (process.platform === 'linux' ? (found ??= findInLibc(calls)) : undefined)

function requireLibc(): NonNullable<typeof found> {
  const libc = libcOf()
  invariant(libc !== undefined, 'the system has these calls')
  return libc
}

/** Source: socket(7), SOL_SOCKET and SO_ACCEPTCONN. */
const socketLevel = 1
const acceptsConnections = 30
/** Source: address_families(7), AF_INET and AF_INET6. */
const inetFamily = 2
const inet6Family = 10
/** `sockaddr_storage`; both families begin with family u16 and port u16be. */
const addressBytes = 128

/**
 * Source: fcntl(2), F_SETFD with FD_CLOEXEC, F_GETFL and F_SETFL with O_NONBLOCK, and
 * F_DUPFD_CLOEXEC.
 */
const setDescriptorFlags = 2
const closeOnExec = 1
const getStatusFlags = 3
const setStatusFlags = 4
const nonBlocking = 0o4000
const duplicateCloseOnExec = 1_030

/** Source: epoll_ctl(2), EPOLL_CTL_ADD and EPOLL_CTL_DEL. */
const addToPoll = 1
const removeFromPoll = 2
/** A new connection wakes one process that waits for it, and not all: EPOLLEXCLUSIVE. */
const wakeOne = 0x1000_0000

/** A socket that already listens. */
export interface ListeningSocket {
  readonly file: number
  readonly address: TcpAddress
}

/** @returns `undefined` unless the open file listens on a TCP port */
function listenerAddress(file: number): TcpAddress | undefined {
  const libc = libcOf()
  const value = new Int32Array(1)
  const length = new Uint32Array([value.byteLength])
  const address = Buffer.alloc(addressBytes)
  if (libc?.getsockopt(file, socketLevel, acceptsConnections, ptr(value), ptr(length)) !== 0) return
  if (value[0] !== 1) return
  length[0] = addressBytes
  if (libc.getsockname(file, ptr(address), ptr(length)) !== 0) return
  const port = address.readUInt16BE(2)
  const family = address.readUInt16LE(0)
  if (family === inetFamily) return { host: address.subarray(4, 8).join('.'), port }
  if (family !== inet6Family) return
  const groups = Array.from({ length: 8 }, (_, at) => address.readUInt16BE(8 + 2 * at).toString(16))
  return { host: new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1), port }
}

/** @throws CommandFailure unless it is a socket that listens on a port */
export function asHandedSocket(file: number): ListeningSocket {
  const address = listenerAddress(file)
  const libc = libcOf()
  if (address === undefined || libc === undefined) {
    throw new CommandFailure(
      'LISTEN_FDS: expected one socket that listens on a port; give a Unix socket by --socket',
    )
  }
  libc.fcntl(file, setDescriptorFlags, closeOnExec)
  libc.fcntl(file, setStatusFlags, libc.fcntl(file, getStatusFlags, 0) | nonBlocking)
  return { file, address }
}

/** Variables by which a manager describes the sockets that it hands over. */
const variables = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'] as const
const firstHanded = 3

/**
 * Removes the variables from an environment, as child processes would take them for their own.
 * @param pid of this process
 * @returns `undefined` if nothing was handed to it
 * @throws CommandFailure
 */
export function takeHandedSocket(
  environment: Record<string, string | undefined>,
  pid: number,
): ListeningSocket | undefined {
  const { LISTEN_PID: forWhom, LISTEN_FDS: count } = environment
  for (const name of variables) delete environment[name]
  if (count === undefined || forWhom !== String(pid) || count === '0') return undefined
  if (count === '1') return asHandedSocket(firstHanded)
  throw new CommandFailure('LISTEN_FDS: expected one socket: name one ListenStream= alone')
}

interface Registration {
  readonly poll: number
  readonly events: number
  /** Key by which the runtime finds the socket. */
  readonly data: bigint
}

function findRegistration(file: number): Registration | undefined {
  for (const poll of readdirSync('/proc/self/fdinfo')) {
    let text = ''
    try {
      text = readFileSync(`/proc/self/fdinfo/${poll}`, 'latin1')
    } catch {
      continue
    }
    const line = new RegExp(`^tfd: +${file} events: +([0-9a-f]+) data: +([0-9a-f]+)`, 'm')
    const [, events, data] = line.exec(text) ?? []
    if (events === undefined) continue
    return { poll: Number(poll), events: Number.parseInt(events, 16), data: BigInt(`0x${data}`) }
  }
  return undefined
}

/** The runtime registers a new server when its event loop turns. */
async function awaitRegistration(file: number): Promise<Registration> {
  let registration = findRegistration(file)
  for (let tries = 1; registration === undefined && tries < adoptionTriesMax; tries += 1) {
    await Bun.sleep(1)
    registration = findRegistration(file)
  }
  invariant(registration !== undefined, 'the poll of the runtime knows the socket')
  return registration
}

/** `epoll_event`: events u32 · data u64, packed only on x64. */
function encodeEvent({ events, data }: Registration): Uint8Array {
  const gap = process.arch === 'x64' ? 0 : 4
  const bytes = Buffer.alloc(12 + gap)
  bytes.writeUInt32LE(events | wakeOne, 0)
  bytes.writeBigUInt64LE(data, 4 + gap)
  return bytes
}

/** Address of a server until another socket replaces its own. */
export const placeholder: TcpAddress = { host: '127.0.0.1', port: 0 }

/** Finds the open file with which the only server of this process on a port listens. */
function fileOn(port: number): number {
  const file = readdirSync('/proc/self/fd')
    .map(Number)
    .find(each => listenerAddress(each)?.port === port)
  invariant(file !== undefined, 'the server listens on that port')
  return file
}

/** A server's part of a socket, from which other processes may accept as well. */
export interface Accepting {
  /** Stops the server from accepting; accepted connections go on. */
  readonly stop: () => void
  /**
   * Puts the server behind those that wait for the next connection. If the kernel refuses to watch
   * the socket again, since another program took the last watch, the next call adds it.
   */
  readonly goLast: () => void
}

/**
 * The socket stays open under another number, so the poll must be told not to wake this server for
 * it. The file that replaces it is opened now, as none may be left later.
 */
function stopperOf(file: number, poll: number): () => void {
  const libc = requireLibc()
  const nowhere = openSync('/dev/null', 'r')
  return () => {
    libc.epoll_ctl(poll, removeFromPoll, file, null)
    libc.dup2(nowhere, file)
    closeSync(nowhere)
  }
}

/**
 * Makes a server of this process accept from a socket, in place of its own.
 * @param port that only this server listens on
 */
export async function adopt({ file }: ListeningSocket, port: number): Promise<Accepting> {
  const libc = requireLibc()
  const own = fileOn(port)
  const registration = await awaitRegistration(own)
  const { poll } = registration
  const event = encodeEvent(registration)
  const add = (): boolean => libc.epoll_ctl(poll, addToPoll, own, ptr(event)) === 0
  const isAdopted = libc.dup2(file, own) === own && add()
  invariant(isAdopted, 'the socket takes the place of that of the server')
  const leave = stopperOf(own, poll)
  let isOver = false
  return {
    stop() {
      isOver = true
      leave()
    },
    goLast() {
      if (isOver) return
      libc.epoll_ctl(poll, removeFromPoll, own, null)
      add()
    },
  }
}

/**
 * Opens a socket that no server accepts from yet: callers wait in its queue. The server that opens
 * it is stopped before the event loop turns, so it never accepts.
 * @throws the system's own error if the address is not available
 */
export function openSocket({ host: hostname, port: asked }: TcpAddress): ListeningSocket {
  const fetch = () => new Response()
  const server = Bun.serve({ hostname, port: asked, reusePort: false, fetch })
  const port = server.port ?? asked
  const file = requireLibc().fcntl(fileOn(port), duplicateCloseOnExec, 0)
  void server.stop(true)
  invariant(file >= 0, 'an open file is left for the socket')
  return { file, address: { host: hostname, port } }
}
