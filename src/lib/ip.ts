/**
 * IP addresses as texts and as numbers.
 *
 * @module
 */
import { isIP } from 'node:net'

/** Returns the 16 bytes of an address as text, without a zone (RFC 4291 section 2.2). */
function inet6Bytes(host: string): number[] {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(host)
  if (dotted !== null) {
    const [a = 0, b = 0, c = 0, d = 0] = dotted.slice(2).map(Number)
    const last = [a * 256 + b, c * 256 + d].map(group => group.toString(16)).join(':')
    return inet6Bytes(`${dotted[1]}${last}`)
  }
  const [head = [], tail = []] = host
    .split('::')
    .map(part => part.split(':').filter(group => group !== ''))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].flatMap(group => {
    const value = Number.parseInt(group, 16)
    return [value >>> 8, value & 255]
  })
}

/** Returns the 32 bits that begin at a byte. */
const wordAt = (bytes: readonly number[], at: number): number =>
  bytes.slice(at, at + 4).reduce((word, byte) => word * 256 + byte, 0)

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255]

/** The 32 bits of an IPv4 address, or the two words of an IPv6 network, a /64. */
export type Network = { readonly four: number } | { readonly high: number; readonly low: number }

/** An IPv4 address may be in IPv6 form. @returns `undefined` for no address */
export function networkOf(address: string): Network | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  if (version === 4) return { four: wordAt(address.split('.').map(Number), 0) }
  const bytes = inet6Bytes(address.replace(/%.*$/, ''))
  const isMapped = mappedPrefix.every((byte, at) => bytes[at] === byte)
  return isMapped ? { four: wordAt(bytes, 12) } : { high: wordAt(bytes, 0), low: wordAt(bytes, 4) }
}

/** Returns true for the name of a host whose traffic never leaves this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
