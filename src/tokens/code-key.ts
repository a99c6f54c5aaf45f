/**
 * Keys under which codes of cards are sealed, each for the codes that end within a few seconds.
 *
 * A key is a row of its own, whose deadline is the end of the last of these codes: the sweep
 * removes it with the expired rows, what a file still has of it is overwritten (`upkeep.ts`), and
 * none of its codes can be opened again, wherever they lie. So a code costs no row, and its end
 * rewrites none.
 * Source: contract section 5; NIST SP 800-88r1, section 2.6 (cryptographic erase).
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { keyBytes, tagBytes } from '../crypto/primitives.ts'
import { uniqueDigest, type KeyScope, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import { codeKeyKeptMs, codeKeySpanMs, codeKeysKeptMax } from '../limits/work-limits.ts'
import { keptFor } from '../lib/maps.ts'
import { sealRow, unsealRow, untilWritten, type RowSealer } from '../records/rows.ts'
import type { Change, Digest, Row } from '../store/contract.ts'
import { andThen, type MaybeLater } from '../lib/waiting.ts'

/** To be used within the same turn of the event loop: it may be wiped in the next one. */
export interface CodeKey {
  readonly key: Uint8Array
  /** What a write has to say that seals under it: the key is there. */
  readonly stands: Extract<Change, { require: number }>
}

type CodeKeyDeps = Pick<Deps, 'store' | 'keys'>

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'code_key',
})

/** The deadline of the key of codes that end at that instant, in Unix milliseconds. */
const deadlineFor = (endsAtMs: number): number =>
  Math.ceil(endsAtMs / codeKeySpanMs) * codeKeySpanMs

const uniqueOf = (scope: KeyScope, deadlineMs: number): Digest =>
  uniqueDigest(scope, 'token-code-key', String(deadlineMs))

/** Of one tenant, by their deadlines; those that are being made as well. */
type KeptKeys = Map<number, MaybeLater<CodeKey>>

/** In a turn of its own: nobody has one of them in hand. */
function wipe(kept: KeptKeys): void {
  for (const each of kept.values()) if (!(each instanceof Promise)) each.key.fill(0)
  kept.clear()
}

const keptBy = keptFor<KeyScope, KeptKeys>(() => new Map())

/** Not for long: a key that has left the disk is to leave the memory as well. */
function keep(kept: KeptKeys, deadlineMs: number, code: MaybeLater<CodeKey>): void {
  if (kept.size >= codeKeysKeptMax) kept.clear()
  if (kept.size === 0) setTimeout(() => wipe(kept), codeKeyKeptMs).unref()
  kept.set(deadlineMs, code)
}

/** After a write that did not land: a key that is gone is to seal nothing more. */
export const forgetCodeKeys = ({ keys }: Pick<Deps, 'keys'>, tenantId: string): void =>
  keptBy(keys.tenant(tenantId)).clear()

const unsealKey = (keys: Keys, tenantId: string, row: Row): CodeKey => ({
  key: unsealRow(sealerOf(keys, tenantId), row).value(0),
  stands: { require: row.ordinal, ifVersion: row.version },
})

/** @returns `undefined` where it is swept, or was never made */
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

/** @throws ApiError `storage_full`, or `conflict` where others are always faster */
const makeCodeKey = (
  deps: CodeKeyDeps & Pick<Deps, 'randomBytes'>,
  tenantId: string,
  deadlineMs: number,
): Promise<CodeKey> =>
  untilWritten(async () => {
    const { store, keys, randomBytes } = deps
    const sealer = sealerOf(keys, tenantId)
    const unique = uniqueOf(sealer.scope, deadlineMs)
    // Another process may have been faster.
    const row = await store.find(unique)
    if (row !== undefined) return { result: unsealKey(keys, tenantId, row) }
    const key = Uint8Array.from(randomBytes(keyBytes))
    const header = { uniques: [unique], terms: [], deadlineMs }
    const outcome = await store.write([{ insert: sealRow(sealer, randomBytes, header, 1, [key]) }])
    const [ordinal] = outcome.ok ? outcome.ordinals : []
    return ordinal === undefined
      ? undefined
      : { result: { key, stands: { require: ordinal, ifVersion: 1 } } }
  })

/** A create that comes meanwhile waits for the one that is being made. */
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
 * The key for codes that end at that instant, made where there is none yet.
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
 * The sealed key of a row that has the form of one of codes, which no other kind of row has. Half
 * of it is enough to look for: without that the rest of it opens nothing.
 */
export function sealedCodeKeyOf({ parts, terms }: Row): Uint8Array | undefined {
  const [, sealed] = parts
  if (sealed?.length !== keyBytes + tagBytes || parts.length !== 2 || terms.length > 0) {
    return undefined
  }
  return Uint8Array.from(sealed.subarray(0, keyBytes / 2))
}

/**
 * Whether a row is a key of codes as it was written.
 * @throws ApiError `storage_corrupt` when it is not the row of one of that tenant
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
