/**
 * The life of keys: made, taken over by the next one, retired.
 * Source: docs/decisions.md, "Keys"; hardening C7.
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

/** What the keys of a store are changed with. */
export interface Keyholder extends Pick<Deps, 'now' | 'randomBytes'> {
  readonly store: OperatedStore
  readonly ring: LiveKeyring
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
 * From when this resolves on everything is sealed under a new key, in every process.
 * @returns its number
 * @throws ApiError `conflict` where older keys are to be retired first
 */
export async function rotate({ ring, now, randomBytes }: Keyholder): Promise<number> {
  const key = primitives.keep(randomBytes(keyBytes))
  try {
    await ring.change(randomBytes, keyring => withNewKey(keyring, key, now()))
  } finally {
    // The keyring has read its own from the store.
    key.fill(0)
  }
  return ring.keys.installation.currentKeyNumber
}

/** A key that is gone. */
interface RetiredKey {
  readonly number: number
  readonly madeMs: number
}

export interface Retirement {
  readonly retired: readonly RetiredKey[]
  /** How many rows were looked at; none of them was under one of these keys. */
  readonly rows: number
  /**
   * Whether keyrings that hold them were looked for in the files, and none is left; `undefined`
   * where the files are of a database.
   */
  readonly isScrubbed: boolean | undefined
}

/** Two commits: by then no state that the engine may fall back to has the keyring before. */
async function passStates({ store }: Keyholder): Promise<void> {
  for (let count = 0; count < 2; count += 1) await store.write([{ bumpGeneration: true }])
}

/** By their bytes: a keyring that was read again has others that are equal. */
const isIn = (known: readonly Uint8Array[], sealed: Uint8Array): boolean =>
  known.some(each => bufferOf(each).equals(sealed))

/**
 * Overwrites what the files hold of keyrings before this one.
 * @returns whether the last look found nothing; `undefined` where nobody can look
 */
export async function scrubReplaced(holder: Keyholder): Promise<boolean | undefined> {
  const { store, ring, randomBytes } = holder
  const { replaced } = ring.keyring()
  if (replaced.length === 0) return true
  await passStates(holder)
  for (let looks = 0; looks < scrubLooksMax; looks += 1) {
    const found = await store.scrub(replaced)
    if (found !== undefined && found > 0) continue
    await ring.change(randomBytes, keyring => ({
      ...keyring,
      replaced: keyring.replaced.filter(sealed => !isIn(replaced, sealed)),
    }))
    return found === undefined ? undefined : true
  }
  return false
}

/**
 * Drops the keys under which nothing is sealed any more, and overwrites what the files hold of
 * keyrings with them.
 * @throws ApiError `conflict` where rows are left under an older key
 */
export async function retire(holder: Keyholder): Promise<Retirement> {
  const { store, ring, randomBytes } = holder
  // Dropping keys leaves one more keyring to look for, and there is room for few.
  if (ring.keyring().replaced.length >= replacedKeyringsMax) await scrubReplaced(holder)
  const older = ring.keyring().dataKeys.filter(({ state }) => state !== 'current')
  const counts = await countByKey(store)
  const rows = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (older.some(({ number }) => (counts.get(number) ?? 0) > 0)) {
    throw conflict('rows are left under an older key: wait for keys rotate, or see coffer verify')
  }
  const isOlder = (number: number) => older.some(entry => entry.number === number)
  if (older.length > 0) {
    await ring.change(randomBytes, keyring => ({
      ...keyring,
      dataKeys: keyring.dataKeys.filter(({ number }) => !isOlder(number)),
    }))
  }
  const retired = older.map(({ number, madeMs }) => ({ number, madeMs }))
  return { retired, rows, isScrubbed: await scrubReplaced(holder) }
}

/**
 * Seals the keyring under another master key. What the files hold of it under the one before is to
 * be overwritten then; that one opens every copy and backup from before for good.
 * @param masterKey wiped by the caller
 */
export async function rekey(holder: Keyholder, masterKey: Uint8Array): Promise<void> {
  const { ring, randomBytes } = holder
  if (ring.keyring().replaced.length >= replacedKeyringsMax) await scrubReplaced(holder)
  await ring.change(
    randomBytes,
    keyring => keyring,
    number => keyringSealer(masterKey, number),
  )
}
