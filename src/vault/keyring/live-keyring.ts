/**
 * The keyring as a running process has it: opened, followed when another process changes it, and
 * changed itself.
 *
 * It is a row like any other, found by a fixed digest and sealed under a key that is derived from
 * the master key. That key stays in locked memory while the ring is open; the master key does not.
 * Source: docs/decisions.md, "Keys".
 * @module
 */
import { createHash } from 'node:crypto'
import { deriveKey, makeKeys, type KeyScope, type Keys } from '../../crypto/keyring.ts'
import {
  decodeKeyring,
  encodeKeyring,
  secretBytesOf,
  type Keyring,
} from '../../crypto/keyring-format.ts'
import { primitives } from '../../crypto/primitives.ts'
import { headFormat, keyNumberOf } from '../../crypto/seal.ts'
import { ApiError, attempt, otherFormat } from '../../lib/errors.ts'
import { replacedKeyringsMax, retiredKeyMs } from '../../limits/operation-limits.ts'
import { writeAttemptsMax } from '../../limits/work-limits.ts'
import { changedByOthers } from '../../records/write-rows.ts'
import { inTurn } from '../../records/row-turns.ts'
import { sealRow, unsealRow, type RowSealer } from '../../records/seal-row.ts'
import type { Change, Row, Store } from '../../store/contract.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'

const keyringScopeName = 'keyring'
/** Where the keyring is found, in every store. */
export const keyringUnique = createHash('sha256').update('coffer/1/keyring').digest()

/** Whether it is the row that the keys are opened from. */
export const isKeyringRow = ({ uniques: [unique] }: Row): boolean =>
  unique !== undefined && keyringUnique.equals(unique)

/**
 * The key that seals the keyring, whatever the number of the master key. It opens the vault as that
 * one does, and does not give it.
 * @returns 32 bytes in locked memory that its caller wipes
 */
export const keyringKeyOf = (masterKey: Uint8Array): Uint8Array =>
  primitives.keep(deriveKey(masterKey, 'keyring', keyringScopeName))

/**
 * A scope with one key, for the one value that no data key may seal.
 * @param masterNumber how often the master key was replaced; any is read, since it is not secret
 */
const keyringScope = (keyringKey: Uint8Array, masterNumber: number): KeyScope => ({
  name: keyringScopeName,
  indexKey: keyringKey,
  fingerprintKey: keyringKey,
  cursorKey: keyringKey,
  currentKeyNumber: masterNumber,
  recordKey: () => keyringKey,
})

const sealerUnder = (keyringKey: Uint8Array, masterNumber: number): RowSealer => ({
  scope: keyringScope(keyringKey, masterNumber),
  collection: 'keyring',
})

/** What seals the keyring. Its key is as good as the master key: `wipeSealer` ends it. */
export const keyringSealer = (masterKey: Uint8Array, masterNumber = 0): RowSealer =>
  sealerUnder(keyringKeyOf(masterKey), masterNumber)

/** What proofs are made with (`proof.ts`): the master key alone gives it, whatever its number. */
const secretOf = ({ scope }: RowSealer): Uint8Array =>
  deriveKey(scope.recordKey(0), 'master-proof', keyringScopeName)

export const wipeSealer = ({ scope }: RowSealer): void => void scope.recordKey(0).fill(0)

/** The number of the master key that a keyring is sealed under. */
const masterNumberOf = ({ parts: [head] }: Pick<Row, 'parts'>): number =>
  head === undefined ? 0 : keyNumberOf(head)

/**
 * A vault of another format is told from one whose master key is another.
 * @throws ApiError `unavailable` for a keyring of another format; `storage_corrupt`
 */
function openRow(sealer: RowSealer, row: Row): Keyring {
  const format = row.parts[0]?.[0] ?? headFormat
  if (format !== headFormat) {
    throw new ApiError('unavailable', otherFormat('the seal of the keyring', format, headFormat))
  }
  const encoded = unsealRow(sealer, row).value(0)
  try {
    return decodeKeyring(encoded)
  } finally {
    encoded.fill(0)
  }
}

/**
 * What a command proves with that it has the master key.
 * @returns 32 bytes that the command wipes
 */
export function proofSecretOf(masterKey: Uint8Array): Uint8Array {
  const sealer = keyringSealer(masterKey)
  try {
    return secretOf(sealer)
  } finally {
    wipeSealer(sealer)
  }
}

export interface LiveKeyring {
  /** Those of the newest keyring that this process has seen. */
  readonly keys: Keys
  /** As of now. */
  readonly keyring: () => Keyring
  readonly masterNumber: () => number
  /** As `proofSecretOf` of the master key that the keyring is sealed under; wiped by its caller. */
  readonly proofSecret: () => Uint8Array
  /** Holds while what was sealed last is sealed under the newest keyring. */
  readonly fence: () => Change
  /**
   * Reads the keyring again, at once where the engine need not wait for it.
   * @throws ApiError `storage_corrupt`
   */
  readonly refresh: () => MaybeLater<void>
  /**
   * Puts another keyring in the place of this one, whose sealed bytes it remembers.
   * @param sealed by what it is sealed from now on, where that is to be another key
   * @throws ApiError `conflict` where others are always faster
   */
  readonly change: (
    randomBytes: (count: number) => Uint8Array,
    make: (keyring: Keyring) => Keyring,
    sealed?: (masterNumber: number) => RowSealer,
  ) => Promise<void>
  /** Whether the keyring is sealed under a master key. */
  readonly isOf: (masterKey: Uint8Array) => boolean
  /** Wipes what opens the keyring; the keys stay. */
  readonly close: () => void
}

function opensWith(masterKey: Uint8Array, row: Row): boolean {
  const sealer = keyringSealer(masterKey, masterNumberOf(row))
  const encoded = attempt(() => unsealRow(sealer, row).value(0))
  encoded?.fill(0)
  wipeSealer(sealer)
  return encoded !== undefined
}

/** Encrypted, each byte stands where it stood: what holds no key need not be remembered. */
const sealedBytes = (keyring: Keyring, { parts: [head, value] }: Row): Uint8Array =>
  head === undefined || value === undefined
    ? new Uint8Array()
    : Buffer.concat([head, value.subarray(0, secretBytesOf(keyring))])

/** @throws ApiError `conflict` where so many are remembered that none fits */
function rememberIn(next: Keyring, before: Keyring, row: Row): Keyring {
  if (next.replaced.length >= replacedKeyringsMax) {
    throw new ApiError('conflict', 'keyrings of before are still in the files: run keys retire')
  }
  return { ...next, replaced: [...next.replaced, sealedBytes(before, row)] }
}

/**
 * @param sealer ended by `close`
 * @throws ApiError as `openRow`
 */
function makeRing(store: Store, first: Row, firstSealer: RowSealer): LiveKeyring {
  let [sealer, row] = [firstSealer, first]
  /** What seals the keyring once a commit has landed that others may see before it is answered. */
  let coming: RowSealer | undefined
  let keyring = openRow(sealer, row)
  // Of an engine that waits no value is given before its key is known (`follow.ts`).
  const keys = makeKeys(keyring, () => {
    const later = refresh()
    if (later instanceof Promise) later.catch(() => {})
  })

  function take(next: Row): void {
    if (next.version === row.version) return
    // Somebody has put an older one in its place, with keys that are gone.
    if (next.version < row.version) throw new ApiError('storage_corrupt', 'an older keyring')
    const by = coming?.scope.currentKeyNumber === masterNumberOf(next) ? coming : sealer
    keyring = openRow(by, next)
    row = next
    if (by !== sealer) {
      wipeSealer(sealer)
      sealer = by
      coming = undefined
    }
    setTimeout(keys.adopt(keyring), retiredKeyMs).unref()
  }

  function refresh(): MaybeLater<void> {
    return andThen(store.find(keyringUnique), found => found && take(found))
  }

  /** @returns whether it landed */
  async function put(
    next: Keyring,
    by: RowSealer,
    randomBytes: (count: number) => Uint8Array,
  ): Promise<boolean> {
    const { uniques, terms, version, ordinal } = row
    const encoded = encodeKeyring(rememberIn(next, keyring, row))
    const sealed = sealRow(by, randomBytes, { uniques, terms }, version + 1, [encoded])
    encoded.fill(0)
    const outcome = await store.write([
      { replace: sealed, ordinal, ifVersion: version },
      { bumpGeneration: true },
    ])
    return outcome.ok
  }

  return {
    keys,
    keyring: () => keyring,
    masterNumber: () => masterNumberOf(row),
    proofSecret: () => secretOf(sealer),
    fence: () => ({ require: row.ordinal, ifVersion: row.version }),
    refresh,
    isOf: masterKey => opensWith(masterKey, row),
    // One after the other: of two, one would forget what the other's commit is sealed under.
    change: (randomBytes, make, sealed) =>
      inTurn(keyringUnique, 0, async () => {
        for (let count = 0; count < writeAttemptsMax; count += 1) {
          coming = sealed?.(masterNumberOf(row) + 1)
          const hasLanded = await put(make(keyring), coming ?? sealer, randomBytes)
          await refresh()
          if (hasLanded) return
          if (coming !== undefined) wipeSealer(coming)
        }
        throw changedByOthers()
      }),
    close: () => wipeSealer(sealer),
  }
}

/**
 * @param keyringKey as `keyringKeyOf` gives it; wiped where it opens nothing, and by `close`
 * @throws ApiError `storage_corrupt` when there is no keyring, or the key does not open it;
 *   `unavailable` when it is of another format
 */
export async function openRingUnder(store: Store, keyringKey: Uint8Array): Promise<LiveKeyring> {
  try {
    const row = await store.find(keyringUnique)
    if (row === undefined) throw new ApiError('storage_corrupt', 'the store has no keyring')
    return makeRing(store, row, sealerUnder(keyringKey, masterNumberOf(row)))
  } catch (error) {
    keyringKey.fill(0)
    throw error
  }
}

/**
 * @param masterKey wiped by its caller
 * @throws ApiError as `openRingUnder`
 */
export const openRing = (store: Store, masterKey: Uint8Array): Promise<LiveKeyring> =>
  openRingUnder(store, keyringKeyOf(masterKey))
