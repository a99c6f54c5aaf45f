/**
 * The keys that sign checkpoints: a new one each day, announced by the one before it, which is then
 * overwritten. An intruder cannot sign anew what was signed on days before.
 *
 * They are sealed under the key of the log. Those of a folder are kept outside of its store, whose
 * engine leaves replaced values in its file for a while. A copy of the store has none, so a
 * restored vault begins a chain of keys under a name of its own, and two copies never sign under
 * one name.
 * Vaults that share a database share the keys in it, and its copies have them as well.
 * @module
 */
import type { Keys } from '../crypto/keyring.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import { open, seal } from '../crypto/seal.ts'
import { hexOf, utf8, utf8Text } from '../lib/bytes.ts'
import { ApiError } from '../lib/errors.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Change, Store } from '../store/contract.ts'
import { readDerived, signingKey } from './derived-keys.ts'
import { makeNoteSigner, type NoteSigner } from './note-keys.ts'

const seedBytes = 32
const dayMs = 24 * 60 * 60 * 1_000

/** A key of one day. */
export interface SigningKey {
  /** Ascending over all keys of the log. */
  readonly number: number
  /** Days since 1970. */
  readonly day: number
  readonly seed: Uint8Array
}

export interface SigningKeys {
  /** Identity of the log, and name of its keys. */
  readonly origin: string
  readonly current: SigningKey
  /** The next one, from before its announcement until that has landed. */
  readonly next?: SigningKey
}

/** Place in which signing keys are kept. */
export interface SigningPlace {
  readonly read: () => MaybeLater<Uint8Array | undefined>
  /**
   * Overwrites what was there; resolves when that is on disk.
   * @throws ApiError `conflict` if another process has overwritten it since it was read
   */
  readonly write: (bytes: Uint8Array) => MaybeLater<void>
  /** Changes that hold only while what was read or written last is there still. */
  readonly fence?: () => readonly Change[]
}

/** For vaults that share a store: one of them signs, and may not know yet that another does. */
export function signingInStore(store: Pick<Store, 'write' | 'derived'>): SigningPlace {
  let known: Uint8Array | undefined
  const fence = (): readonly Change[] => [{ requireDerived: signingKey, ifValue: known }]
  return {
    fence,
    async read() {
      known = await readDerived(store, signingKey)
      return known
    },
    async write(value) {
      const { ok } = await store.write([...fence(), { derived: signingKey, value }])
      if (!ok) throw new ApiError('conflict', 'another process signs the log')
      known = value
    },
  }
}

type Sealing = Pick<Keys, 'auditKey'>
type RandomBytes = (count: number) => Uint8Array

const context = utf8('audit signing keys')

const keyOf = ({ auditKey }: Sealing): Uint8Array => {
  if (auditKey === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  return auditKey
}

export const dayOf = (atMs: number): number => Math.floor(atMs / dayMs)

export const newSigningKey = (
  randomBytes: RandomBytes,
  number: number,
  atMs: number,
): SigningKey => ({ number, day: dayOf(atMs), seed: Uint8Array.from(randomBytes(seedBytes)) })

/** Returns a name for a log: the same installation has another one for each chain of keys. */
export function newOrigin(keys: Sealing, randomBytes: RandomBytes): string {
  const digest = new Bun.CryptoHasher('sha256', keyOf(keys)).update('origin').digest()
  return `coffer/${hexOf(digest.subarray(0, 8))}/${hexOf(randomBytes(4))}`
}

export const signerOf = (origin: string, { seed }: SigningKey): NoteSigner =>
  makeNoteSigner(origin, 'log', seed)

/**
 * The key by which witnesses know a log. They are told one key for good, so it does not change with
 * the days; it proves nothing to a reader of the log.
 */
export function witnessedSignerOf(keys: Sealing, origin: string): NoteSigner {
  const seed = new Bun.CryptoHasher('sha256', keyOf(keys)).update(`witnessed\0${origin}`).digest()
  const signer = makeNoteSigner(origin, 'log', seed)
  seed.fill(0)
  return signer
}

interface KeptKey {
  readonly number: number
  readonly day: number
  readonly seed: string
}

const keep = ({ number, day, seed }: SigningKey): KeptKey => ({ number, day, seed: hexOf(seed) })

const kept = ({ number, day, seed }: KeptKey): SigningKey => ({
  number,
  day,
  seed: Uint8Array.fromHex(seed),
})

export function sealSigningKeys(
  keys: Sealing,
  randomBytes: RandomBytes,
  { origin, current, next }: SigningKeys,
): Uint8Array {
  const text = JSON.stringify({ origin, current: keep(current), next: next && keep(next) })
  const sealKey = { number: 0, key: keyOf(keys) }
  return seal(sealKey, context, randomBytes(nonceBytes), utf8(text))
}

/** @throws ApiError `storage_corrupt` if they are not as they were sealed */
export function openSigningKeys(keys: Sealing, sealed: Uint8Array): SigningKeys {
  const text = utf8Text(open(() => keyOf(keys), context, sealed))
  const { origin, current, next } = JSON.parse(text) as {
    readonly origin: string
    readonly current: KeptKey
    readonly next?: KeptKey
  }
  return { origin, current: kept(current), ...(next === undefined ? {} : { next: kept(next) }) }
}
