/**
 * A listening socket that a service manager hands over, so that it outlives this process: a caller
 * who connects while one process goes and the next one comes waits in its queue, and is not
 * refused.
 *
 * The server of the runtime takes no open file (bun#36491), so it listens where nobody looks for
 * it, and then the handed socket takes the place of that one under its number; the poll of the
 * runtime, which forgets a socket that goes, is told of it as of the one before. Only for Linux.
 * Source: sd_listen_fds(3); dup2(2); epoll_ctl(2); proc(5), `/proc/PID/fdinfo`.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync } from 'node:fs'
import type { TcpAddress } from '../../settings/config.ts'
import { invariant } from '../../lib/errors.ts'
import { findInLibc } from '../../lib/libc.ts'
import { adoptionTriesMax } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../process/failure.ts'
import { listenerAddress, listenersOn, openNowhere, stopListening } from './listening-sockets.ts'

const { i32, ptr: pointer } = FFIType
const calls = {
  fcntl: { args: [i32, i32, i32], returns: i32 },
  dup2: { args: [i32, i32], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
} as const

/** By which a manager says what it hands over. */
const variables = ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES'] as const
const firstHanded = 3

const setDescriptorFlags = 2
const closeOnExec = 1
const getStatusFlags = 3
const setStatusFlags = 4
const nonBlocking = 0o4000

/** A socket that listens already. */
export interface HandedSocket {
  readonly file: number
  readonly address: TcpAddress
}

/** @throws CommandFailure for what is no socket that listens on a port */
export function asHandedSocket(file: number): HandedSocket {
  const address = listenerAddress(file)
  const libc = findInLibc(calls)
  if (address === undefined || libc === undefined) {
    throw new CommandFailure(
      'LISTEN_FDS: expected one socket that listens on a port; give a Unix socket by --socket',
    )
  }
  libc.fcntl(file, setDescriptorFlags, closeOnExec)
  libc.fcntl(file, setStatusFlags, libc.fcntl(file, getStatusFlags, 0) | nonBlocking)
  return { file, address }
}

/**
 * Takes the variables out of an environment, which others would take for theirs.
 * @param pid of this process
 * @returns `undefined` where nothing was handed to it
 * @throws CommandFailure
 */
export function takeHandedSocket(
  environment: Record<string, string | undefined>,
  pid: number,
): HandedSocket | undefined {
  const { LISTEN_PID: forWhom, LISTEN_FDS: count } = environment
  for (const name of variables) delete environment[name]
  if (count === undefined || forWhom !== String(pid) || count === '0') return undefined
  if (count === '1') return asHandedSocket(firstHanded)
  throw new CommandFailure('LISTEN_FDS: expected one socket: name one ListenStream= alone')
}

interface Registration {
  readonly poll: number
  readonly events: number
  /** What the runtime finds the socket by. */
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

/** `epoll_event`: events u32 · data u64, without a gap on x64 alone. */
function encodeEvent({ events, data }: Registration): Uint8Array {
  const gap = process.arch === 'x64' ? 0 : 4
  const bytes = Buffer.alloc(12 + gap)
  bytes.writeUInt32LE(events, 0)
  bytes.writeBigUInt64LE(data, 4 + gap)
  return bytes
}

/** Where a server listens until a handed socket takes its place. */
export const placeholder: TcpAddress = { host: '127.0.0.1', port: 0 }

/**
 * Has a server of this process accept from a handed socket, in place of its own.
 * @param port that the server alone listens on
 * @returns what has it accept nothing more, while what it has accepted goes on
 */
export async function adopt({ file }: HandedSocket, port: number): Promise<() => void> {
  const libc = findInLibc(calls)
  const [own] = listenersOn(port)
  invariant(libc !== undefined && own !== undefined, 'the server listens on that port')
  let found = findRegistration(own)
  // The runtime tells its poll once it turns.
  for (let tries = 1; found === undefined && tries < adoptionTriesMax; tries += 1) {
    await Bun.sleep(1)
    found = findRegistration(own)
  }
  invariant(found !== undefined, 'the poll of the runtime knows the socket')
  const isAdopted =
    libc.dup2(file, own) === own &&
    libc.epoll_ctl(found.poll, 1, own, ptr(encodeEvent(found))) === 0
  invariant(isAdopted, 'the socket takes the place of that of the server')
  const nowhere = openNowhere()
  return () => stopListening(own, nowhere)
}
