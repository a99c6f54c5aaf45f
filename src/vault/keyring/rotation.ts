/**
 * The life of keys: created, replaced by the next one, retired. Source: docs/decisions.md, "Keys";
 * hardening C7.
 * @module
 */
import { bufferOf } from '../../lib/bytes.ts'
import { keyBytes, primitives } from '../../crypto/primitives.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import { dataKeysMax, replacedKeyringsMax, scrubLooksMax } from '../../limits/operation-limits.ts'
import type { Keyring } from '../../crypto/keyring-format.ts'
import type { OperatedStore } from '../../store/operated.ts'
import { countByKey } from './reseal.ts'
import { keyringSealer, type LiveKeyring } from './live-keyring.ts'

/** Access to the keys of a store, for changing them. */
export interface Keyholder extends Pick<Deps, 'now' | 'randomBytes'> {
  readonly store: OperatedStore
  readonly keyring: LiveKeyring
}

const conflict = (message: string): ApiError => new ApiError('conflict', message)

function withNewKey(keyring: Keyring, key: Uint8Array, madeMs: number): Keyring {
  if (keyring.dataKeys.length >= dataKeysMax) {
    throw conflict('there are as many keys as there may be: run keys retire')
  }
  const number = Math.max(...keyring.dataKeys.map(entry => entry.number)) + 1
  const older = keyring.dataKeys.map(entry => ({ ...entry, state: 'readable' as const }))
  return { ...keyring, dataKeys: [...older, { number, state: 'current', madeMs, key }] }
}

/**
 * Makes a new key current. Once this resolves, every process seals everything under it.
 * @returns its number
 * @throws ApiError `conflict` if older keys have to be retired first
 */
export async function rotate({ keyring, now, randomBytes }: Keyholder): Promise<number> {
  const key = primitives.keep(randomBytes(keyBytes))
  try {
    await keyring.change(randomBytes, current => withNewKey(current, key, now()))
  } finally {
    // The keyring has read its own copy from the store.
    key.fill(0)
  }
  return keyring.keys.installation.currentKeyNumber
}

/** A key that is gone. */
interface RetiredKey {
  readonly number: number
  readonly madeMs: number
}

export interface Retirement {
  readonly retired: readonly RetiredKey[]
  /** Number of rows looked at; none of them was under one of these keys. */
  readonly rows: number
  /**
   * True if the files were searched and hold no keyring with these keys; `undefined` if the store
   * is a database, whose files cannot be searched.
   */
  readonly isScrubbed: boolean | undefined
}

/** Two commits: afterwards the engine can fall back to no state with the previous keyring. */
async function passStates({ store }: Keyholder): Promise<void> {
  for (let count = 0; count < 2; count += 1) await store.write([{ bumpGeneration: true }])
}

/** Compared by their bytes: a keyring that was read again has new arrays with equal content. */
const isIn = (known: readonly Uint8Array[], sealed: Uint8Array): boolean =>
  known.some(each => bufferOf(each).equals(sealed))

/**
 * Overwrites the remains of earlier keyrings in the files.
 * @returns true if the last look found nothing; `undefined` if the files cannot be searched
 */
export async function scrubReplaced(holder: Keyholder): Promise<boolean | undefined> {
  const { store, keyring, randomBytes } = holder
  const { replaced } = keyring.current()
  if (replaced.length === 0) return true
  await passStates(holder)
  for (let looks = 0; looks < scrubLooksMax; looks += 1) {
    const found = await store.scrub(replaced)
    if (found !== undefined && found > 0) continue
    await keyring.change(randomBytes, current => ({
      ...current,
      replaced: current.replaced.filter(sealed => !isIn(replaced, sealed)),
    }))
    return found === undefined ? undefined : true
  }
  return false
}

/**
 * Drops the keys under which nothing is sealed any more, and overwrites the remains of keyrings
 * with them in the files.
 * @throws ApiError `conflict` if rows are left under an older key
 */
export async function retire(holder: Keyholder): Promise<Retirement> {
  const { store, keyring, randomBytes } = holder
  // Dropping keys leaves one more keyring to look for, and there is room for only a few.
  if (keyring.current().replaced.length >= replacedKeyringsMax) await scrubReplaced(holder)
  const older = keyring.current().dataKeys.filter(({ state }) => state !== 'current')
  const counts = await countByKey(store)
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (older.some(({ number }) => (counts.get(number) ?? 0) > 0)) {
    throw conflict('rows are left under an older key: wait for keys rotate, or see coffer verify')
  }
  const isOlder = (number: number) => older.some(entry => entry.number === number)
  if (older.length > 0) {
    await keyring.change(randomBytes, current => ({
      ...current,
      dataKeys: current.dataKeys.filter(({ number }) => !isOlder(number)),
    }))
  }
  const retired = older.map(({ number, madeMs }) => ({ number, madeMs }))
  return { retired, rows, isScrubbed: await scrubReplaced(holder) }
}

/**
 * Seals the keyring under another master key. Remains of it under the previous master key must then
 * be overwritten; that key opens all earlier copies and backups forever.
 * @param masterKey wiped by the caller
 */
export async function rekey(holder: Keyholder, masterKey: Uint8Array): Promise<void> {
  const { keyring, randomBytes, now } = holder
  if (keyring.current().replaced.length >= replacedKeyringsMax) await scrubReplaced(holder)
  const sealer = (number: number) => keyringSealer(masterKey, number)
  await keyring.change(randomBytes, current => current, { sealer, sinceMs: now() })
}
