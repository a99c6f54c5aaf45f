/**
 * What the kernel is told of the sockets on which this process listens: which of those that share a
 * port is given new connections, and which is given no more while what it has already is served on.
 *
 * The server of the runtime can only stop listening by closing what is idle as well, so these are
 * system calls of our own. Each is allowed to everybody, and without effect where it is not known.
 * Source: socket(7), SO_ATTACH_FILTER, SO_ATTACH_REUSEPORT_CBPF; dup(2); bpf of Linux.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { openSync, readdirSync } from 'node:fs'
import type { TcpAddress } from '../../settings/config.ts'
import { findInLibc } from '../../lib/libc.ts'

const { i32, ptr: pointer } = FFIType
const calls = {
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, i32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  dup2: { args: [i32, i32], returns: i32 },
} as const

let found: ReturnType<typeof findInLibc<typeof calls>>
const libcOf = () => (process.platform === 'linux' ? (found ??= findInLibc(calls)) : undefined)

const ofSocket = 1
const attachFilter = 26
const acceptsConnections = 30
const attachToGroup = 51
const inet = 2
const inet6 = 10
/** `sockaddr_storage`; family u16 and port u16be stand first in both families. */
const addressBytes = 128

/** Of a socket that listens on a TCP port; `undefined` of any other open file. */
export function listenerAddress(file: number): TcpAddress | undefined {
  const libc = libcOf()
  const value = new Int32Array(1)
  const length = new Uint32Array([value.byteLength])
  const address = Buffer.alloc(addressBytes)
  if (libc?.getsockopt(file, ofSocket, acceptsConnections, ptr(value), ptr(length)) !== 0) return
  if (value[0] !== 1) return
  length[0] = addressBytes
  if (libc.getsockname(file, ptr(address), ptr(length)) !== 0) return
  const port = address.readUInt16BE(2)
  const family = address.readUInt16LE(0)
  if (family === inet) return { host: address.subarray(4, 8).join('.'), port }
  if (family !== inet6) return
  const groups = Array.from({ length: 8 }, (_, at) => address.readUInt16BE(8 + 2 * at).toString(16))
  return { host: new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1), port }
}

/** The open files by which this process listens on a TCP port. */
export const listenersOn = (port: number): readonly number[] =>
  libcOf() === undefined
    ? []
    : readdirSync('/proc/self/fd')
        .map(Number)
        .filter(file => listenerAddress(file)?.port === port)

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/** `sock_filter`: code u16 · jumps u8, u8 · value u32. `sock_fprog`: count u16 · address u64. */
function attach(file: number, option: number, program: readonly Instruction[]): void {
  const code = Buffer.alloc(8 * program.length)
  for (const [at, [operation, ifTrue, ifFalse, value]] of program.entries()) {
    code.writeUInt16LE(operation, 8 * at)
    code.writeUInt8(ifTrue, 8 * at + 2)
    code.writeUInt8(ifFalse, 8 * at + 3)
    code.writeUInt32LE(value, 8 * at + 4)
  }
  const counted = Buffer.alloc(16)
  counted.writeUInt16LE(program.length, 0)
  counted.writeBigUInt64LE(BigInt(ptr(code)), 8)
  libcOf()?.setsockopt(file, ofSocket, option, ptr(counted), counted.length)
}

const giveBack = 0x06
const loadByte = 0x30
const and = 0x54
const ifEqual = 0x15

/**
 * Of two that share a port, the one that came last is given each new connection; of one, that one.
 * @param file one of them; the choice stays with the port as long as one is there
 */
export const preferNewest = (file: number): void =>
  attach(file, attachToGroup, [[giveBack, 0, 0, 1]])

const flagsAt = 13
const beginning = 0x02
const acknowledging = 0x10

/**
 * No connection is begun there any more; those that are half made come through. A caller that
 * begins one hears nothing, tries again after a second, and comes to another socket if this one is
 * gone then.
 */
export const refuseNew = (file: number): void =>
  attach(file, attachFilter, [
    [loadByte, 0, 0, flagsAt],
    [and, 0, 0, beginning | acknowledging],
    [ifEqual, 0, 1, beginning],
    [giveBack, 0, 0, 0],
    [giveBack, 0, 0, 0xff_ff_ff_ff],
  ])

/** An open file that leads nowhere: had before anything is changed, as there may be none left. */
export const openNowhere = (): number => openSync('/dev/null', 'r')

/** Ends the listening, and nothing else: the open file leads nowhere from now on. */
export const stopListening = (file: number, nowhere: number): void =>
  void libcOf()?.dup2(nowhere, file)
