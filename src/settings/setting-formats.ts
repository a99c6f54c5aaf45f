/**
 * Formats of setting texts, by the names that their schemas use.
 * @module
 */
import { isIP, isIPv4 } from 'node:net'
import { FormatRegistry } from '@sinclair/typebox'
import { addressBytes } from '../lib/ip.ts'
import {
  codeLifetimeMsMax,
  codeLifetimeMsMin,
  settingCharsMax,
  backupEveryMsMax,
  backupEveryMsMin,
} from '../limits/setting-limits.ts'

/** Names that already have a meaning, or that only the browser sets. */
const takenNames =
  'connection|date|expect|host|keep-alive|origin|referer|te|trailer|transfer-encoding|upgrade|via'
const takenPrefixes = '(?:svc|sec|proxy|access-control|content)-|accept|cookie'
const headerName = new RegExp(
  `^(?!${takenPrefixes})(?!(?:${takenNames})$)[a-z][a-z0-9-]{0,63}$`,
  'i',
)
/** With `-api-key` appended, it must be such a name, too. */
const headerPrefix = new RegExp(
  `^(?!${takenPrefixes})(?!(?:${takenNames}|svc|sec|proxy|access-control|content)$)` +
    '[a-z](?:[a-z0-9-]{0,54}[a-z0-9])?$',
  'i',
)

/** No segment is empty or begins with a dot, so no proxy rewrites it. */
export const basePath = '^(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$'

/** An origin as browsers send it (RFC 6454 section 6.2), or `*`; otherwise without a star. */
const isOrigin = (value: string): boolean =>
  value === '*' || (!value.includes('*') && URL.canParse(value) && new URL(value).origin === value)

/** Milliseconds of an interval such as `6h`; NaN if it is not one. */
export function durationMs(text: string): number {
  const [, count, unit] = /^([1-9]\d{0,5})([mhd])$/.exec(text) ?? []
  const minutes = { m: 1, h: 60, d: 24 * 60 }[unit as 'm' | 'h' | 'd']
  return Number(count) * minutes * 60 * 1_000
}

/** Lifetime of a code that is kept as long as its card. */
export const neverEnds = 'never'

const isCodeLifetime = (value: string): boolean => {
  const ms = durationMs(value)
  return value === neverEnds || (ms >= codeLifetimeMsMin && ms <= codeLifetimeMsMax)
}

function isBackupInterval(value: string): boolean {
  const ms = durationMs(value)
  return ms >= backupEveryMsMin && ms <= backupEveryMsMax
}

/** The name of a bucket and a prefix. Source: rules for general purpose buckets of S3. */
export const bucketAddress = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/

const isBucketAddress = (value: string): boolean =>
  value.length <= settingCharsMax && bucketAddress.test(value)

const isBackupPlace = (value: string): boolean =>
  value !== '' &&
  !value.includes('\0') &&
  value.length <= settingCharsMax &&
  (!/^\w+:\/\//.test(value) || bucketAddress.test(value))

/** An address, or a network as RFC 4632 section 3.1 writes it. */
function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || more.length > 0) return false
  if (bits === undefined) return true
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128)
}

/** An IPv4 address in IPv6 form is refused: of a network of those, all of IPv4 would be part. */
const isPlainNetwork = (value: string): boolean => {
  const [address = ''] = value.split('/')
  return isNetwork(value) && (isIPv4(address) || addressBytes(address)?.length === 16)
}

/** The key of a witness, an @ and its address; what is in them is read at the start. */
const isWitness = (value: string): boolean =>
  /^[^+\s,]+\+[0-9a-f]{8}\+[\w+/=]+@https:\/\/\S+$/.test(value)

const formats = {
  'address or network': isNetwork,
  'plain address or network': isPlainNetwork,
  'backup place': isBackupPlace,
  'bucket address': isBucketAddress,
  'backup interval': isBackupInterval,
  'code lifetime': isCodeLifetime,
  'header name': (value: string) => headerName.test(value),
  'header prefix': (value: string) => headerPrefix.test(value),
  'origin or *': isOrigin,
  witness: isWitness,
}
for (const [format, check] of Object.entries(formats)) FormatRegistry.Set(format, check)
