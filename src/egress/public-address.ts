/**
 * Addresses that the vault may connect to on behalf of others: those of the public internet, and
 * those that the operator allows.
 *
 * Source: the IANA registries of special-purpose addresses, RFC 6890 and its updates.
 * @module
 */
import { addressBytes, makeIsWithin } from '../lib/ip.ts'

const isSpecialFour = makeIsWithin([
  '0.0.0.0/8', // This machine: on Linux it leads to loopback.
  '10.0.0.0/8',
  '100.64.0.0/10', // Shared by the customers of a carrier, and by services of clouds.
  '127.0.0.0/8',
  '168.63.129.16', // Public by its number, and the host of every machine in Azure.
  '169.254.0.0/16', // Link-local; the metadata of most clouds.
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24', // Documentation, as 198.51.100.0/24 and 203.0.113.0/24.
  '192.88.99.0/24', // Relays of 6to4.
  '192.168.0.0/16',
  '198.18.0.0/15', // Benchmarks.
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3', // Multicast, reserved, broadcast.
])

/** Everything outside is loopback, mapped, translated, private, link-local, multicast or unused. */
const isGlobalSix = makeIsWithin(['2000::/3'])

const isSpecialSix = makeIsWithin([
  '2001::/23', // Protocols, among them Teredo, benchmarks and ORCHID.
  '2001:db8::/32', // Documentation, as 3fff::/20.
  '2002::/16', // 6to4: it leads to an IPv4 address.
  '3fff::/20',
])

/** IPv4 addresses as a network without IPv4 sees them, at the end (RFC 6052). */
const isTranslated = makeIsWithin(['64:ff9b::/96'])

/** True for the bytes of an address as `addressBytes` returns them. */
function isPublicNumber(bytes: readonly number[], address: string): boolean {
  if (bytes.length === 4) return !isSpecialFour(bytes.join('.'))
  if (isTranslated(address)) return !isSpecialFour(bytes.slice(12).join('.'))
  return isGlobalSix(address) && !isSpecialSix(address)
}

/** False for what is no address, and for one with a zone, which is of one link. */
export function isPublicAddress(address: string): boolean {
  const bytes = address.includes('%') ? undefined : addressBytes(address)
  return bytes !== undefined && isPublicNumber(bytes, address)
}

/** True for an address that may be connected to. */
export type MayReach = (address: string) => boolean

/** @param allowed addresses and networks of the operator, the only ones beside public addresses */
export function makeMayReach(allowed: readonly string[]): MayReach {
  const isAllowed = makeIsWithin(allowed)
  return address => {
    if (isPublicAddress(address)) return true
    const bytes = addressBytes(address)
    if (bytes === undefined || address.includes('%')) return false
    return isAllowed(bytes.length === 4 ? bytes.join('.') : address)
  }
}
