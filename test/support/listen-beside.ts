/**
 * Another program of the same user that tries to listen at a port that has a listener.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { closeSync } from 'node:fs'
import { findInLibc } from '../../src/lib/libc.ts'

const { i32, ptr: pointer } = FFIType
const libc = findInLibc({
  socket: { args: [i32, i32, i32], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, i32], returns: i32 },
  bind: { args: [i32, pointer, i32], returns: i32 },
  listen: { args: [i32, i32], returns: i32 },
})

const inetFamily = 2
const inet6Family = 10
const stream = 1
const socketLevel = 1
const options = { reuseAddress: 2, reusePort: 15 } as const
const addressesOf: Readonly<Record<string, readonly number[]>> = {
  '127.0.0.1': [127, 0, 0, 1],
  '0.0.0.0': [0, 0, 0, 0],
  // Without IPV6_V6ONLY, so for IPv4 as well.
  '::': [],
}
const optionSets: readonly (readonly (keyof typeof options)[])[] = [
  [],
  ['reuseAddress'],
  ['reusePort'],
  ['reuseAddress', 'reusePort'],
]

function listens(host: string, port: number, names: (typeof optionSets)[number]): boolean {
  if (libc === undefined) throw new Error('no libc')
  const bytes = Buffer.alloc(host === '::' ? 28 : 16)
  bytes.writeUInt16LE(host === '::' ? inet6Family : inetFamily, 0)
  bytes.writeUInt16BE(port, 2)
  bytes.set(addressesOf[host] ?? [], 4)
  const socket = libc.socket(bytes.readUInt16LE(0), stream, 0)
  if (socket < 0) return false
  const value = ptr(new Int32Array([1]))
  for (const name of names) libc.setsockopt(socket, socketLevel, options[name], value, 4)
  const isListening =
    libc.bind(socket, ptr(bytes), bytes.length) === 0 && libc.listen(socket, 512) === 0
  closeSync(socket)
  return isListening
}

function serves(hostname: string, port: number): boolean {
  try {
    const fetch = () => new Response('not the vault', { status: 418 })
    void Bun.serve({ hostname, port, reusePort: true, fetch }).stop(true)
    return true
  } catch {
    return false
  }
}

/** Tries it in every way. @returns the ways that worked; each listener is closed again */
export const listenBeside = (port: number): string[] =>
  Object.keys(addressesOf).flatMap(host => [
    ...optionSets
      .filter(names => listens(host, port, names))
      .map(names => [host, ...names].join(' ')),
    ...(serves(host, port) ? [`${host} Bun.serve`] : []),
  ])
