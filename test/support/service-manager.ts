/**
 * A service manager like systemd: it holds the listening socket of a service, starts processes on
 * it one after the other, and receives their notifications.
 * Source: sd_listen_fds(3), sd_notify(3).
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { closeSync } from 'node:fs'
import { findInLibc } from '../../src/lib/libc.ts'
import { cofferCommand } from './coffer-process.ts'
import { until } from './until.ts'

const { i32, u64, ptr: pointer } = FFIType
const libc = findInLibc({
  socket: { args: [i32, i32, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  recv: { args: [i32, pointer, u64, i32], returns: FFIType.i64 },
})

const [unixFamily, inetFamily] = [1, 2]
const [stream, datagram] = [1, 2]
const closeSocketOnExec = 0o2_000_000
const withoutWaiting = 0x40

function open(kind: number, address: Buffer): number {
  if (libc === undefined) throw new Error('no libc')
  const socket = libc.socket(address.readUInt16LE(0), kind | closeSocketOnExec, 0)
  if (libc.bind(socket, ptr(address), address.length) !== 0) throw new Error('cannot bind')
  return socket
}

/** Opens a socket that listens on a free port of loopback. */
export function openListener(): { readonly file: number; readonly port: number } {
  const address = Buffer.alloc(16)
  address.writeUInt16LE(inetFamily, 0)
  address.set([127, 0, 0, 1], 4)
  const file = open(stream, address)
  libc?.listen(file, 512)
  libc?.getsockname(file, ptr(address), ptr(new Uint32Array([address.length])))
  return { file, port: address.readUInt16BE(2) }
}

export interface Told {
  /** All messages so far. */
  readonly messages: () => readonly string[]
  readonly close: () => void
}

/** @param path of a socket file, or `@` and a name */
export function hear(path: string): Told {
  const address = Buffer.concat([Buffer.from([unixFamily, 0]), Buffer.from(path)])
  if (path.startsWith('@')) address[2] = 0
  const file = open(datagram, address)
  const messages: string[] = []
  const buffer = Buffer.alloc(4_096)
  return {
    messages() {
      for (;;) {
        const count = Number(libc?.recv(file, ptr(buffer), buffer.length, withoutWaiting))
        if (count < 0) return messages
        messages.push(buffer.toString('utf8', 0, count))
      }
    },
    close: () => closeSync(file),
  }
}

interface Given {
  readonly listener?: number
  readonly notify?: string
  readonly watchdogUsec?: number
}

/** Starts a service, whose process id is the one named with the inherited socket. */
export function startService(args: readonly string[], { listener, notify, watchdogUsec }: Given) {
  const command = ['sh', '-c', 'LISTEN_PID=$$ WATCHDOG_PID=$$ exec "$@"', 'sh']
  const child = Bun.spawn([...command, ...cofferCommand, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', ...(listener === undefined ? [] : [listener])],
    env: {
      PATH: process.env['PATH'],
      ...(listener === undefined ? {} : { LISTEN_FDS: '1' }),
      ...(notify === undefined ? {} : { NOTIFY_SOCKET: notify }),
      ...(watchdogUsec === undefined ? {} : { WATCHDOG_USEC: String(watchdogUsec) }),
    },
  })
  const stderr = new Response(child.stderr).text()
  return { child, stderr }
}

/** Waits for a message. @returns it */
export async function untilTold(told: Told, says: string): Promise<string> {
  const find = () => told.messages().find(message => message.includes(says))
  await until(() => find() !== undefined, 120_000)
  return find() ?? ''
}
