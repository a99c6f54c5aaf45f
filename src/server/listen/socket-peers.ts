/**
 * Finds the programs connected to a Unix socket on which this process listens.
 *
 * The runtime's server gives neither the peer of a request nor the file of its connection, so the
 * kernel is asked about all open files: if several programs are connected at once, one of them made
 * the request. Source: unix(7), SO_PEERCRED; socket(7); proc(5), `/proc/PID/loginuid`.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { readdirSync, readFileSync } from 'node:fs'
import { findInLibc } from '../../lib/libc.ts'

const { i32, ptr: pointer } = FFIType
const calls = {
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
} as const

/** Source: socket(7), SOL_SOCKET and SO_ACCEPTCONN; unix(7), SO_PEERCRED. */
const socketLevel = 1
const acceptsConnections = 30
const peerCredentials = 17
/** Source: address_families(7), AF_UNIX. */
const unixFamily = 1
/** `sockaddr_un`: family u16, then a path that ends with NUL. */
const addressBytes = 110
const pathAt = 2

/** Facts about the peers: a number, or a list as text if several programs are connected. */
export type Peers = Readonly<Partial<Record<PeerName, number | string>>>

/** `peer_login_uid` is the user who logged in, whatever user the program now runs as. */
type PeerName = 'peer_uid' | 'peer_pid' | 'peer_login_uid'

/** `ucred`: process, user, group. */
type Credentials = readonly [pid: number, uid: number]

function peersAt(path: string): readonly Credentials[] {
  const libc = process.platform === 'linux' ? findInLibc(calls) : undefined
  if (libc === undefined) return []
  const value = new Uint32Array(3)
  const length = new Uint32Array(1)
  const address = Buffer.alloc(addressBytes)
  const ask = (file: number, option: number): boolean => {
    length[0] = value.byteLength
    return libc.getsockopt(file, socketLevel, option, ptr(value), ptr(length)) === 0
  }
  const isThere = (file: number): boolean => {
    length[0] = addressBytes
    if (libc.getsockname(file, ptr(address), ptr(length)) !== 0) return false
    if (address.readUInt16LE(0) !== unixFamily) return false
    const text = address.toString('utf8', pathAt, length[0])
    return text.replace(/\0.*$/s, '') === path
  }
  return readdirSync('/proc/self/fd')
    .map(Number)
    .flatMap(file => {
      const isPeer = ask(file, acceptsConnections) && value[0] === 0 && isThere(file)
      if (!isPeer || !ask(file, peerCredentials)) return []
      const [pid = 0, uid = 0] = value
      return [[pid, uid] as const]
    })
}

/** No login: `(uid_t) -1`. */
const nobodyLoggedIn = 2 ** 32 - 1

function loginOf(pid: number): number | undefined {
  try {
    const uid = Number(readFileSync(`/proc/${pid}/loginuid`, 'latin1'))
    return uid === nobodyLoggedIn ? undefined : uid
  } catch {
    return undefined
  }
}

function together(name: PeerName, numbers: readonly (number | undefined)[]): Peers {
  const [first, ...more] = new Set(numbers.filter(number => number !== undefined))
  if (first === undefined) return {}
  return { [name]: more.length === 0 ? first : [first, ...more].join(',') }
}

/** @param path as bound by this process; unknown facts are absent, as on other platforms */
export function peersOf(path: string): Peers {
  try {
    const peers = peersAt(path)
    // For a process in another container, the kernel gives 0.
    const pids = peers.flatMap(([pid]) => (pid === 0 ? [] : [pid]))
    return {
      ...together(
        'peer_uid',
        peers.map(([, uid]) => uid),
      ),
      ...together('peer_pid', pids),
      ...together('peer_login_uid', pids.map(loginOf)),
    }
  } catch {
    return {}
  }
}
