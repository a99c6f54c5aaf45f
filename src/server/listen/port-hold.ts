/**
 * A port that one instance reserves for its workers, so that no second instance shares it.
 *
 * Workers listen on one port by SO_REUSEPORT, which the kernel allows every process of the same
 * user: another instance would get half of the requests. So the parent of the workers keeps a
 * socket of its own, bound to that address but not listening. Two sockets cannot both listen
 * exclusively on one address, so the parent first listens, and only then allows sharing; as long as
 * its socket exists a second instance is refused, even if no worker listens. Processes of other
 * users can neither share the port nor take a name that would stop this one from starting, and the
 * kernel releases it all with the process. Linux only. Source: socket(7), SO_REUSEPORT;
 * shutdown(2).
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { isIPv6 } from 'node:net'
import { inet6Bytes } from '../../lib/ip.ts'
import { findInLibc } from '../../lib/libc.ts'

const { i32, ptr: pointer } = FFIType
const calls = {
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, i32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  close: { args: [i32], returns: i32 },
} as const

const inet = 2
const inet6 = 10
const stream = 1
const closeOnExec = 0o2_000_000
const ofSocket = 1
const reuseAddress = 2
const reusePort = 15
const ofInet6 = 41
const inet6Only = 26
const forReading = 0

/** `sockaddr_in`: family u16 · port u16be · address 4 · 8 zeros. */
function encodeInet(host: string, port: number): Uint8Array {
  const bytes = Buffer.alloc(16)
  bytes.writeUInt16LE(inet, 0)
  bytes.writeUInt16BE(port, 2)
  bytes.set(host.split('.').map(Number), 4)
  return bytes
}

/** `sockaddr_in6`: family u16 · port u16be · flow u32 · address 16 · scope u32. */
function encodeInet6(host: string, port: number): Uint8Array {
  const bytes = Buffer.alloc(28)
  bytes.writeUInt16LE(inet6, 0)
  bytes.writeUInt16BE(port, 2)
  bytes.set(inet6Bytes(host), 8)
  return bytes
}

/**
 * Reserves an address until the process ends.
 * @param host an IP address without a zone
 * @returns true if it was free: nobody else listens on it or has reserved it
 */
export function holdPort(host: string, port: number): boolean {
  const libc = findInLibc(calls)
  if (libc === undefined) return false
  const isSix = isIPv6(host)
  const socket = libc.socket(isSix ? inet6 : inet, stream | closeOnExec, 0)
  const set = (level: number, option: number, value: number) =>
    libc.setsockopt(socket, level, option, ptr(new Int32Array([value])), 4) === 0
  const address = isSix ? encodeInet6(host, port) : encodeInet(host, port)
  // Closed connections block an address for a minute, except for a socket that reuses it.
  const isHeld =
    set(ofSocket, reuseAddress, 1) &&
    (!isSix || set(ofInet6, inet6Only, 0)) &&
    libc.bind(socket, ptr(address), address.length) === 0 &&
    libc.listen(socket, 1) === 0 &&
    set(ofSocket, reuseAddress, 0) &&
    set(ofSocket, reusePort, 1) &&
    libc.shutdown(socket, forReading) === 0
  if (!isHeld) libc.close(socket)
  return isHeld
}
