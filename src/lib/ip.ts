/**
 * IP addresses as texts and as numbers.
 *
 * @module
 */
import { BlockList, isIP, isIPv4 } from 'node:net'

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

/** Returns 4 bytes of an IPv4 address, also in IPv6 form, and 16 of any other; no zone counts. */
export function addressBytes(address: string): readonly number[] | undefined {
  const version = isIP(address)
  if (version === 0) return undefined
  if (version === 4) return address.split('.').map(Number)
  const bytes = inet6Bytes(address.replace(/%.*$/, ''))
  return mappedPrefix.every((byte, at) => bytes[at] === byte) ? bytes.slice(12) : bytes
}

/** The 32 bits of an IPv4 address, or the two words of an IPv6 network, a /64. */
export type Network = { readonly four: number } | { readonly high: number; readonly low: number }

/** An IPv4 address may be in IPv6 form. @returns `undefined` for no address */
export function networkOf(address: string): Network | undefined {
  const bytes = addressBytes(address)
  if (bytes === undefined) return undefined
  if (bytes.length === 4) return { four: wordAt(bytes, 0) }
  return { high: wordAt(bytes, 0), low: wordAt(bytes, 4) }
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/**
 * Returns a function that is true for an address in one of the networks.
 * @param networks addresses, and networks such as `10.0.0.0/8`; none in IPv4-mapped form, since
 *   `::ffff:0:0/96` would have every IPv4 address in it
 */
export function makeIsWithin(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    if (bits === undefined) list.addAddress(address, familyOf(address))
    else list.addSubnet(address, Number(bits), familyOf(address))
  }
  return address => list.check(address, familyOf(address))
}

/** Returns true for the name of a host whose traffic never leaves this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
