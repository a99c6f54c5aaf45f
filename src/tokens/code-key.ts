/**
 * Keys that encrypt card codes. Each one serves the codes that end within the same few seconds.
 *
 * A key is a row whose deadline is the end of the last of these codes. The sweep removes it with
 * the expired rows and overwrites what a file still has of it (`upkeep.ts`); then none of its codes
 * can be opened, but from a backup that has the key. So a code needs no row of its own, and its end
 * rewrites no token.
 * Source: contract section 5; NIST SP 800-88r1, section 2.6 (cryptographic erase).
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { keyBytes, tagBytes } from '../crypto/primitives.ts'
import { uniqueDigest, type KeyScope, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { codeKeyKeptMs, codeKeySpanMs, codeKeysKeptMax } from '../limits/work-limits.ts'
import { keptFor } from '../lib/maps.ts'
import { sealRow, unsealRow, type RowSealer } from '../records/seal-row.ts'
import { unchanged } from '../records/read-row.ts'
import { untilWritten } from '../records/write-rows.ts'
import type { Change, Digest, Row } from '../store/contract.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'

/** Use it within the same turn of the event loop: it may be wiped in the next one. */
export interface CodeKey {
  readonly key: Uint8Array
  /** Precondition of any write that seals under this key: the key's row still exists. */
  readonly stands: Extract<Change, { require: number }>
}

type CodeKeyDeps = Pick<Deps, 'store' | 'keys'>

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'code_key',
})

/** Returns the deadline of the key for codes that end at that instant, in Unix milliseconds. */
const deadlineFor = (endsAtMs: number): number =>
  Math.ceil(endsAtMs / codeKeySpanMs) * codeKeySpanMs

const uniqueOf = (scope: KeyScope, deadlineMs: number): Digest =>
  uniqueDigest(scope, 'token-code-key', String(deadlineMs))

/** One tenant's keys by deadline, with those still being made. */
type KeptKeys = Map<number, MaybeLater<CodeKey>>

/** Runs in a turn of its own, when nobody is using one of the keys. */
function wipe(kept: KeptKeys): void {
  for (const each of kept.values()) if (!(each instanceof Promise)) each.key.fill(0)
  kept.clear()
}

const keptBy = keptFor<KeyScope, KeptKeys>(() => new Map())

/** Keeps it briefly: a key that has left the disk must leave memory as well. */
function keep(kept: KeptKeys, deadlineMs: number, code: MaybeLater<CodeKey>): void {
  if (kept.size >= codeKeysKeptMax) kept.clear()
  if (kept.size === 0) setTimeout(() => wipe(kept), codeKeyKeptMs).unref()
  kept.set(deadlineMs, code)
}

/** For use after a failed write: a key that is gone must seal nothing more. */
export const forgetCodeKeys = ({ keys }: Pick<Deps, 'keys'>, tenantId: string): void =>
  keptBy(keys.tenant(tenantId)).clear()

const unsealKey = (keys: Keys, tenantId: string, row: Row): CodeKey => ({
  key: unsealRow(sealerOf(keys, tenantId), row).value(0),
  stands: unchanged(row),
})

/** @returns `undefined` if it was swept or never made */
export function findCodeKey(
  { store, keys }: CodeKeyDeps,
  tenantId: string,
  endsAtMs: number,
): MaybeLater<CodeKey | undefined> {
  const scope = keys.tenant(tenantId)
  const deadlineMs = deadlineFor(endsAtMs)
  const kept = keptBy(scope)
  const known = kept.get(deadlineMs)
  if (known !== undefined) return known
  return andThen(store.find(uniqueOf(scope, deadlineMs)), row => {
    if (row === undefined) return undefined
    const found = unsealKey(keys, tenantId, row)
    keep(kept, deadlineMs, found)
    return found
  })
}

/** @throws ApiError `storage_full`, or `conflict` if others always win the race */
const makeCodeKey = (
  deps: CodeKeyDeps & Pick<Deps, 'randomBytes'>,
  tenantId: string,
  deadlineMs: number,
): Promise<CodeKey> =>
  untilWritten(async () => {
    const { store, keys, randomBytes } = deps
    const sealer = sealerOf(keys, tenantId)
    const unique = uniqueOf(sealer.scope, deadlineMs)
    // Another process may have made it first.
    const row = await store.find(unique)
    if (row !== undefined) return { result: unsealKey(keys, tenantId, row) }
    const key = Uint8Array.from(randomBytes(keyBytes))
    const header = { uniques: [unique], terms: [], deadlineMs }
    const outcome = await store.write([{ insert: sealRow(sealer, randomBytes, header, 1, [key]) }])
    const [ordinal] = outcome.ok ? outcome.ordinals : []
    return ordinal === undefined
      ? undefined
      : { result: { key, stands: { require: ordinal, ifVersion: 1, ifUnique: unique } } }
  })

/** Concurrent creates wait for the one key that is being made. */
function makeOnce(
  deps: CodeKeyDeps & Pick<Deps, 'randomBytes'>,
  tenantId: string,
  endsAtMs: number,
): MaybeLater<CodeKey> {
  const kept = keptBy(deps.keys.tenant(tenantId))
  const deadlineMs = deadlineFor(endsAtMs)
  const known = kept.get(deadlineMs)
  if (known !== undefined) return known
  const making = makeCodeKey(deps, tenantId, deadlineMs).then(
    made => {
      kept.delete(deadlineMs)
      keep(kept, deadlineMs, made)
      return made
    },
    (thrown: unknown) => {
      kept.delete(deadlineMs)
      throw thrown
    },
  )
  keep(kept, deadlineMs, making)
  return making
}

/**
 * Returns the key for codes that end at that instant, and makes it if there is none.
 * @throws ApiError as `makeCodeKey`
 */
export const obtainCodeKey = (
  deps: CodeKeyDeps & Pick<Deps, 'randomBytes'>,
  tenantId: string,
  endsAtMs: number,
): MaybeLater<CodeKey> =>
  andThen(
    findCodeKey(deps, tenantId, endsAtMs),
    found => found ?? makeOnce(deps, tenantId, endsAtMs),
  )

/**
 * Returns the sealed key, if the row has the form that only a code key has. The first half is
 * enough to search for: without it the rest opens nothing.
 */
export function sealedCodeKeyOf({ parts, terms }: Row): Uint8Array | undefined {
  const [, sealed] = parts
  if (sealed?.length !== keyBytes + tagBytes || parts.length !== 2 || terms.length > 0) {
    return undefined
  }
  return Uint8Array.from(sealed.subarray(0, keyBytes / 2))
}

/**
 * Returns true if the row is a code key as it was written.
 * @throws ApiError `storage_corrupt` when it is not a row of that tenant
 */
export function isCodeKey(keys: Keys, tenantId: string, row: Row): boolean {
  const { key } = unsealKey(keys, tenantId, row)
  const isKey = key.length === keyBytes
  key.fill(0)
  const [unique, ...more] = row.uniques
  const { deadlineMs, terms } = row
  if (deadlineMs === undefined || unique === undefined) return false
  const isFound = equalBytes(unique, uniqueOf(keys.tenant(tenantId), deadlineMs))
  return isKey && isFound && more.length === 0 && terms.length === 0
}
