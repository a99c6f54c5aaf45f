/**
 * The keyring of a running process: opens it, follows changes by other processes, and changes it.
 *
 * It is a row like any other, found by a fixed digest and sealed under a key that is derived from
 * the master key. That key stays in locked memory while the keyring is open; the master key does
 * not. Source: docs/decisions.md, "Keys".
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
import { bufferOf } from '../../lib/bytes.ts'
import { ApiError, attempt, otherFormat } from '../../lib/errors.ts'
import { replacedKeyringsMax, retiredKeyMs } from '../../limits/operation-limits.ts'
import { ownOrdinal, writeAttemptsMax } from '../../limits/work-limits.ts'
import { changedByOthers } from '../../records/write-rows.ts'
import { inRowTurn } from '../../records/row-turns.ts'
import { sealRow, unsealRow, type RowSealer } from '../../records/seal-row.ts'
import { unchanged } from '../../records/read-row.ts'
import { sumSealerOf } from '../../records/sum-sealer.ts'
import type { Change, Row, Store } from '../../store/contract.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'

const keyringScopeName = 'keyring'
/** Digest by which the keyring is found in every store. */
export const keyringUnique = createHash('sha256').update('coffer/1/keyring').digest()

/** True for the row that the keys are opened from. */
export const isKeyringRow = ({ uniques: [unique] }: Row): boolean =>
  unique !== undefined && keyringUnique.equals(unique)

/**
 * Derives the key that seals the keyring, whatever the number of the master key. It opens the vault
 * as the master key does, but does not reveal it.
 * @returns 32 bytes in locked memory, which the caller wipes
 */
export const keyringKeyOf = (masterKey: Uint8Array): Uint8Array =>
  primitives.keep(deriveKey(masterKey, 'keyring', keyringScopeName))

/**
 * A scope with one key, for the one value that no data key may seal.
 * @param masterNumber how often the master key was replaced; not secret, so any is read
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

/** Seals the keyring. Its key is as good as the master key: `wipeSealer` ends it. */
export const keyringSealer = (masterKey: Uint8Array, masterNumber = 0): RowSealer =>
  sealerUnder(keyringKeyOf(masterKey), masterNumber)

/** Derives the secret of proofs (`proof.ts`) from the master key alone, whatever its number. */
const secretOf = ({ scope }: RowSealer): Uint8Array =>
  deriveKey(scope.recordKey(0), 'master-proof', keyringScopeName)

export const wipeSealer = ({ scope }: RowSealer): void => void scope.recordKey(0).fill(0)

/** Returns the number of the master key that a keyring is sealed under. */
const masterNumberOf = ({ parts: [head] }: Pick<Row, 'parts'>): number =>
  head === undefined ? 0 : keyNumberOf(head)

const instantBytes = 6

/**
 * Makes the values of the row: the keyring, and since when its master key counts, in Unix
 * milliseconds as u48be. Coffers that know the first value alone leave the second one out.
 */
export function keyringValues(keyring: Keyring, sinceMs: number | undefined): Uint8Array[] {
  const encoded = encodeKeyring(keyring)
  if (sinceMs === undefined) return [encoded]
  const since = Buffer.alloc(instantBytes)
  since.writeUIntBE(sinceMs, 0, instantBytes)
  return [encoded, since]
}

/** A master key that was never replaced is as old as the first data key. */
const firstMsOf = ({ dataKeys }: Keyring, row: Row): number | undefined =>
  masterNumberOf(row) === 0 ? dataKeys.find(({ number }) => number === 1)?.madeMs : undefined

interface OpenedKeyring {
  readonly keyring: Keyring
  readonly sinceMs: number | undefined
}

/**
 * Tells a vault of another format from one with another master key.
 * @throws ApiError `unavailable` for a keyring of another format; `storage_corrupt`
 */
function openRow(sealer: RowSealer, row: Row): OpenedKeyring {
  const format = row.parts[0]?.[0] ?? headFormat
  if (format !== headFormat) {
    throw new ApiError('unavailable', otherFormat('the seal of the keyring', format, headFormat))
  }
  const opened = unsealRow(sealer, row)
  const keyring = opened.read(0, decodeKeyring)
  const isTold = row.parts.length > 2
  const sinceMs = isTold
    ? opened.read(1, bytes => bufferOf(bytes).readUIntBE(0, instantBytes))
    : firstMsOf(keyring, row)
  return { keyring, sinceMs }
}

/**
 * Derives the secret with which a command proves that it has the master key.
 * @returns 32 bytes, which the command wipes
 */
export function proofSecretOf(masterKey: Uint8Array): Uint8Array {
  const sealer = keyringSealer(masterKey)
  try {
    return secretOf(sealer)
  } finally {
    wipeSealer(sealer)
  }
}

type RandomBytes = (count: number) => Uint8Array

interface NextMasterKey {
  readonly sealer: (masterNumber: number) => RowSealer
  readonly sinceMs: number
}

export interface LiveKeyring {
  /** Keys of the newest keyring that this process has seen. */
  readonly keys: Keys
  /** The newest keyring that this process has seen. */
  readonly current: () => Keyring
  readonly masterNumber: () => number
  /**
   * Instant since which the master key counts, in Unix milliseconds; `undefined` if it was replaced
   * by a coffer that noted none.
   */
  readonly masterSinceMs: () => number | undefined
  /** Like `proofSecretOf`, for the master key that seals the keyring; the caller wipes it. */
  readonly proofSecret: () => Uint8Array
  /** Holds only if the newest keyring is the one under which values were last sealed. */
  readonly fence: () => Change
  /**
   * Reads the keyring again, at once if the engine need not wait for it.
   * @throws ApiError `storage_corrupt`
   */
  readonly refresh: () => MaybeLater<void>
  /**
   * Replaces the keyring and remembers the sealed bytes of the old one.
   * @param next makes the sealer from now on, if the master key is to change
   * @throws ApiError `conflict` if other writers are always faster
   */
  readonly change: (
    randomBytes: RandomBytes,
    make: (keyring: Keyring) => Keyring,
    next?: NextMasterKey,
  ) => Promise<void>
  /** True if the keyring is sealed under this master key. */
  readonly isOf: (masterKey: Uint8Array) => boolean
  /** Wipes the key that opens the keyring; the data keys stay. */
  readonly close: () => void
}

function opensWith(masterKey: Uint8Array, row: Row): boolean {
  const sealer = keyringSealer(masterKey, masterNumberOf(row))
  const encoded = attempt(() => unsealRow(sealer, row).value(0))
  encoded?.fill(0)
  wipeSealer(sealer)
  return encoded !== undefined
}

/** Encryption keeps every byte in its place, so the bytes that hold no key can be left out. */
const sealedBytes = (keyring: Keyring, { parts: [head, value] }: Row): Uint8Array =>
  head === undefined || value === undefined
    ? new Uint8Array()
    : Buffer.concat([head, value.subarray(0, secretBytesOf(keyring))])

/** @throws ApiError `conflict` if there is no room to remember one more */
function rememberIn(next: Keyring, before: Keyring, row: Row): Keyring {
  if (next.replaced.length >= replacedKeyringsMax) {
    throw new ApiError('conflict', 'keyrings of before are still in the files: run keys retire')
  }
  return { ...next, replaced: [...next.replaced, sealedBytes(before, row)] }
}

/**
 * @param sealer wiped by `close`
 * @throws ApiError as `openRow`
 */
function makeLiveKeyring(store: Store, first: Row, firstSealer: RowSealer): LiveKeyring {
  let [sealer, row] = [firstSealer, first]
  /** Seals the keyring after a commit that other processes may see before its answer comes. */
  let coming: RowSealer | undefined
  let { keyring, sinceMs } = openRow(sealer, row)
  // If the engine waits, `follow.ts` makes the key known before any value is returned.
  const keys = makeKeys(keyring, () => {
    const later = refresh()
    if (later instanceof Promise) later.catch(() => {})
  })

  function take(next: Row): void {
    if (next.version === row.version) return
    // Somebody put back an older keyring, whose keys may be retired.
    if (next.version < row.version) throw new ApiError('storage_corrupt', 'an older keyring')
    const by = coming?.scope.currentKeyNumber === masterNumberOf(next) ? coming : sealer
    ;({ keyring, sinceMs } = openRow(by, next))
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

  /** @returns true if the write landed */
  async function put(made: OpenedKeyring, by: RowSealer, random: RandomBytes): Promise<boolean> {
    const { uniques, terms, version, ordinal } = row
    const values = keyringValues(rememberIn(made.keyring, keyring, row), made.sinceMs)
    const sealed = sealRow(by, random, { uniques, terms }, version + 1, values)
    for (const value of values) value.fill(0)
    const outcome = await store.write([
      { replace: sealed, ordinal, ifVersion: version },
      { bumpGeneration: true },
    ])
    return outcome.ok
  }

  return {
    keys,
    current: () => keyring,
    masterNumber: () => masterNumberOf(row),
    masterSinceMs: () => sinceMs,
    proofSecret: () => secretOf(sealer),
    fence: () => unchanged(row),
    refresh,
    isOf: masterKey => opensWith(masterKey, row),
    // Serialized: of two changes at once, one would lose the sealer of the other's commit.
    change: (randomBytes, make, next) =>
      inRowTurn(keyringUnique, ownOrdinal, async () => {
        for (let count = 0; count < writeAttemptsMax; count += 1) {
          coming = next?.sealer(masterNumberOf(row) + 1)
          const made = { keyring: make(keyring), sinceMs: next?.sinceMs ?? sinceMs }
          const hasLanded = await put(made, coming ?? sealer, randomBytes)
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
 * From then on the store keeps the sum over its rows.
 * @param keyringKey made by `keyringKeyOf`; wiped if it opens nothing, and by `close`
 * @throws ApiError `storage_corrupt` if there is no keyring or the key does not open it;
 *   `unavailable` if it is of another format
 */
export async function openKeyringUnder(store: Store, keyringKey: Uint8Array): Promise<LiveKeyring> {
  try {
    const row = await store.find(keyringUnique)
    if (row === undefined) throw new ApiError('storage_corrupt', 'the store has no keyring')
    const opened = makeLiveKeyring(store, row, sealerUnder(keyringKey, masterNumberOf(row)))
    store.keepSum(sumSealerOf(opened.keys))
    return opened
  } catch (error) {
    keyringKey.fill(0)
    throw error
  }
}

/**
 * @param masterKey wiped by the caller
 * @throws ApiError as `openKeyringUnder`
 */
export const openKeyring = (store: Store, masterKey: Uint8Array): Promise<LiveKeyring> =>
  openKeyringUnder(store, keyringKeyOf(masterKey))
