/**
 * The address that a request comes from, and the rate limit of each address.
 *
 * A proxy that is trusted tells for whom it asks, in `X-Forwarded-For`: each hop adds at the right
 * whom it was asked by. So the rightmost address that is no trusted proxy's is the caller's;
 * whatever stands left of it the caller may have written. From others the header means nothing.
 * @module
 */
import { isIP, isIPv4 } from 'node:net'
import { tooManyRequests } from '../lib/errors.ts'
import type { Deps } from '../deps.ts'
import { makeIsWithin, networkOf, type Network } from '../lib/ip.ts'
import type { Settings } from '../settings/settings.ts'
import { makeRateLimit } from './rate-limit.ts'
import type { Origins } from './keep-alive.ts'

type IsTrusted = (address: string) => boolean

/** With a port, as some proxies write it, or without: `192.0.2.1:80`, `[2001:db8::1]:80`. */
function addressIn(hop: string): string | undefined {
  const text = hop.trim()
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  return isIP(bare) === 0 ? undefined : plain(bare)
}

const mapped = '::ffff:'

/** Mapped IPv4 as IPv4, and no zone: a zone may be long, and names an interface of one machine. */
function plain(address: string): string {
  if (!address.includes(':')) return address
  const end = address.indexOf('%')
  const bare = end < 0 ? address : address.slice(0, end)
  if (bare.length <= mapped.length || bare.slice(0, mapped.length).toLowerCase() !== mapped) {
    return bare
  }
  const four = bare.slice(mapped.length)
  return isIPv4(four) ? four : bare
}

/** @param peer whose connection it is, as `plain` gives it @returns who asks, likewise */
export function callerBehind(peer: string, forwarded: string | null, isTrusted: IsTrusted): string {
  let caller = peer
  let end = forwarded?.length ?? 0
  while (forwarded !== null && end > 0 && isTrusted(caller)) {
    const comma = forwarded.lastIndexOf(',', end - 1)
    const before = addressIn(forwarded.slice(comma + 1, end))
    // If a trusted proxy wrote no address, nothing left of it counts.
    if (before === undefined) return caller
    caller = before
    end = comma
  }
  return caller
}

/** `undefined` by a socket of the file system, and once the connection has ended. */
export type ClientAddress = (request: Request, origins: Origins | undefined) => string | undefined

export function makeClientAddress({ trustedProxies }: Settings): ClientAddress {
  const isTrusted = makeIsWithin(trustedProxies)
  return (request, origins) => {
    const peer = origins?.requestIP(request)
    if (peer === undefined || peer === null) return undefined
    const forwarded = trustedProxies.length === 0 ? null : request.headers.get('x-forwarded-for')
    return callerBehind(plain(peer.address), forwarded, isTrusted)
  }
}

const factorBits = 19

/** decision: nobody can know it, so that no two networks are counted as one on purpose. */
function factorOf(randomBytes: Deps['randomBytes']): number {
  const [a = 0, b = 0, c = 0] = randomBytes(3)
  return (((a << 16) | (b << 8) | c) & (2 ** factorBits - 1)) | 1
}

/** Counts a request. @throws ApiError `too_many_requests` */
export type EnterAddress = (request: Request, origins: Origins | undefined) => void

/**
 * Each IPv4 address and each /64 of IPv6 has its own count, in a table of a bounded size: the one
 * that was asked from least recently is forgotten. By a socket of the file system nobody counts
 * whose address is not known.
 */
export function makeEnterAddress(deps: Deps, clientAddress: ClientAddress): EnterAddress {
  const { requestsPerSecondPerAddress: perSecond } = deps.settings
  if (perSecond === undefined) return () => {}
  const limit = makeRateLimit(perSecond, deps.elapsedMs)
  const [highFactor, lowFactor] = [factorOf(deps.randomBytes), factorOf(deps.randomBytes)]
  const numberOf = (network: Network): number =>
    'four' in network ? network.four : -1 - (network.high * highFactor + network.low * lowFactor)
  return (request, origins) => {
    const address = clientAddress(request, origins)
    const network = address === undefined ? undefined : networkOf(address)
    const waitSeconds = network === undefined ? 0 : limit.enter(numberOf(network))
    if (waitSeconds > 0) {
      throw tooManyRequests(
        'This address has made too many requests: wait as Retry-After says.',
        waitSeconds,
      )
    }
  }
}
