/**
 * Random token ids, and the unique digest by which a row is found under its id.
 *
 * A random id is a UUID of version 4 (RFC 9562 section 5.4): 90 random bits, then the era of its
 * making, encrypted under a key of the tenant, so that all of it looks random. The unique of its
 * row has that era behind its first byte: new rows lie side by side in the index, and one page
 * write serves many of them, however large the store is.
 * decision: a chosen id in that form is treated as a random one, and merely gets an arbitrary
 * place; any other text is digested as a whole.
 * @module
 */
import { uniqueBytes } from '../limits/work-limits.ts'
import { hexOf, readU32, uuidOf, writeU32 } from '../lib/bytes.ts'
import { uniqueDigest, type KeyScope, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { keptFor } from '../lib/maps.ts'
import { isUuid } from '../rules/token-ids.ts'
import type { Digest } from '../store/contract.ts'

/** In the text of a UUID: the random part. The 8 hex digits behind it are 32 bits. */
const randomChars = 28
const eraBytes = 4
const hexRadix = 16

/** Returns the mask that hides the era in an id with that beginning; it is stored nowhere. */
const maskOf = (scope: KeyScope, random: string): number =>
  readU32(uniqueDigest(scope, 'token-id-era', random), 0)

/** Mask of the newest id: its row is usually sealed next. */
const lastMade = keptFor<KeyScope, { random: string; mask: number }>(() => ({
  random: '',
  mask: 0,
}))

function knownMaskOf(scope: KeyScope, random: string): number {
  const last = lastMade(scope)
  return last.random === random ? last.mask : maskOf(scope, random)
}

/**
 * Layout: a byte of the digest · era u32 · 27 more bytes of it. The digest covers the whole id, so
 * chosen ids that differ only in the era differ in all the rest as well. A fold visits digests by
 * their first byte: if that were the era, one step would have to take all its rows.
 */
function withEra(digest: Digest, era: number): Digest {
  const unique = new Uint8Array(uniqueBytes)
  unique.set(digest)
  unique.copyWithin(1 + eraBytes, 1, uniqueBytes - eraBytes)
  writeU32(unique, 1, era)
  return unique
}

/** Returns the unique under which a token id is found: 32 bytes. */
export function tokenUnique(keys: Keys, tenantId: string, id: string): Digest {
  const scope = keys.tenant(tenantId)
  const digest = uniqueDigest(scope, 'token-id', id)
  if (!isUuid(id)) return digest
  const hidden = Number.parseInt(id.slice(randomChars), hexRadix)
  return withEra(digest, (hidden ^ knownMaskOf(scope, id.slice(0, randomChars))) >>> 0)
}

/** Returns a new id, in the present era of the store. */
export function defaultTokenId(
  { keys, randomBytes, store }: Pick<Deps, 'keys' | 'randomBytes' | 'store'>,
  tenantId: string,
): string {
  const scope = keys.tenant(tenantId)
  const random = uuidOf(randomBytes(16)).slice(0, randomChars)
  const mask = maskOf(scope, random)
  Object.assign(lastMade(scope), { random, mask })
  const hidden = new Uint8Array(eraBytes)
  writeU32(hidden, 0, (store.era() ^ mask) >>> 0)
  return random + hexOf(hidden)
}
