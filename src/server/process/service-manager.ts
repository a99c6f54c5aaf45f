/**
 * Notifies a service manager that the service is ready, reloads, stops, and is well.
 *
 * The runtime has no datagrams over Unix sockets, so system calls are used. They never block: a
 * manager that does not listen misses the message.
 * Source: sd_notify(3), sd_watchdog_enabled(3); unix(7).
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { utf8 } from '../../lib/bytes.ts'
import { findInLibc } from '../../lib/libc.ts'

const { i32, u64, ptr: pointer } = FFIType
const calls = {
  socket: { args: [i32, i32, i32], returns: i32 },
  sendto: { args: [i32, pointer, u64, i32, pointer, i32], returns: FFIType.i64 },
  close: { args: [i32], returns: i32 },
  clock_gettime: { args: [i32, pointer], returns: i32 },
} as const

/** Source: address_families(7), AF_UNIX; socket(2), SOCK_DGRAM and SOCK_CLOEXEC. */
const unixFamily = 1
const datagram = 2
const closeSocketOnExec = 0o2_000_000
/** Source: send(2), MSG_DONTWAIT. */
const withoutWaiting = 0x40
/** Source: clock_gettime(2), CLOCK_MONOTONIC. */
const monotonicClock = 1
/** `sockaddr_un`: family u16 · path. */
const pathBytesMax = 108

/** An address that begins with `@` has no file: its first byte is zero (unix(7), abstract). */
function encodeAddress(path: string): Uint8Array | undefined {
  const bytes = utf8(path)
  if (bytes.length > pathBytesMax || !/^[/@]./.test(path)) return undefined
  const address = Buffer.alloc(2 + bytes.length)
  address.writeUInt16LE(unixFamily, 0)
  address.set(bytes, 2)
  if (path.startsWith('@')) address[2] = 0
  return address
}

export interface ServiceManager {
  /** Interval at which it expects a watchdog message, if it does. */
  readonly watchMs?: number | undefined
  /** @param status one line, which the manager shows */
  readonly ready: (status: string) => void
  readonly reloading: () => void
  readonly stopping: () => void
  /**
   * Sends watchdog messages for as long as the service is well.
   * @returns a function that stops them
   */
  readonly watch: (isWell: () => boolean) => () => void
}

/** Interval of watchdog messages for this process; `undefined` if none are expected. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: Environment, pid: number): number | undefined {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(pid)) return undefined
  const everyMs = Math.floor(Number(WATCHDOG_USEC) / 2_000)
  return everyMs >= 1 ? Math.min(everyMs, 2 ** 31 - 1) : undefined
}

type Environment = Record<string, string | undefined>

const variables = ['NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID'] as const

/**
 * Removes the variables from an environment: child processes are not the service.
 * @param pid of this process
 */
export function findServiceManager(environment: Environment, pid: number): ServiceManager {
  const { NOTIFY_SOCKET: path } = environment
  const everyMs = watchdogMs(environment, pid)
  for (const name of variables) delete environment[name]
  const address = path === undefined ? undefined : encodeAddress(path)
  const libc = address === undefined ? undefined : findInLibc(calls)

  function tell(...lines: readonly string[]): void {
    if (libc === undefined || address === undefined) return
    const socket = libc.socket(unixFamily, datagram | closeSocketOnExec, 0)
    const text = utf8(lines.join('\n'))
    libc.sendto(socket, ptr(text), text.length, withoutWaiting, ptr(address), address.length)
    libc.close(socket)
  }
  /** `timespec`: seconds i64 · nanoseconds i64. */
  function monotonicUsec(): bigint {
    const time = new BigInt64Array(2)
    libc?.clock_gettime(monotonicClock, ptr(time))
    return (time[0] ?? 0n) * 1_000_000n + (time[1] ?? 0n) / 1_000n
  }
  return {
    watchMs: libc === undefined ? undefined : everyMs,
    ready: status => tell('READY=1', `STATUS=${status}`),
    reloading: () => tell('RELOADING=1', `MONOTONIC_USEC=${monotonicUsec()}`),
    stopping: () => tell('STOPPING=1', 'STATUS=Requests under way end.'),
    watch(isWell) {
      if (everyMs === undefined || libc === undefined) return () => {}
      const tellIfWell = () => {
        if (isWell()) tell('WATCHDOG=1')
      }
      tellIfWell()
      const timer = setInterval(tellIfWell, everyMs)
      return () => clearInterval(timer)
    },
  }
}
