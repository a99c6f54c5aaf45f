/**
 * Records to rows and back: sealed, unsealed, and written on behalf of a credential.
 * @module
 */
import type { Glimpse, RowHeader, NewRow, Row, Change, Store } from '../store/contract.ts'
import { utf8, utf8Text, hexOf } from '../lib/bytes.ts'
import { nonceBytes } from '../crypto/primitives.ts'
import type { KeyScope, Keys } from '../crypto/keyring.ts'
import { unsealAll, sealAll, type Opener } from '../crypto/seal.ts'
import { ApiError } from '../lib/errors.ts'
import { clearHeaderBytes, storedRow, writeClearHeader } from '../store/core/row.ts'
import { writeAttemptsMax } from '../limits/work-limits.ts'
import { makeFairQueue, type FairQueue } from '../lib/waiting.ts'

/*
 * Whether a row is expired, whether or not the sweep has removed it.
 */

/** From the instant of its deadline on, removed or not (contract section 10). */
export const isExpired = ({ deadlineMs }: Pick<RowHeader, 'deadlineMs'>, nowMs: number): boolean =>
  deadlineMs !== undefined && deadlineMs <= nowMs

/*
 * Sealed rows: the one door between records and the blind store.
 *
 * The values of a row are sealed under one head that names scope and collection and the whole clear
 * header: a value moved to another row, tenant or place in its row, or under changed uniques, terms
 * or deadline, or an older version of itself, does not open, and none can be left out. Part 0 of a
 * row is the head, its values follow.
 */

export type Collection =
  'keyring' | 'tenant' | 'application' | 'session' | 'token' | 'code_key' | 'idempotency'

/** Whose rows, and of what kind. */
export interface RowSealer {
  readonly scope: KeyScope
  readonly collection: Collection
}

const labels = new WeakMap<KeyScope, Map<Collection, Uint8Array>>()

/** Scope and collection as bytes that end where the clear header begins, whatever their texts. */
function labelOf({ scope, collection }: RowSealer): Uint8Array {
  let ofScope = labels.get(scope)
  if (ofScope === undefined) {
    ofScope = new Map()
    labels.set(scope, ofScope)
  }
  let label = ofScope.get(collection)
  if (label === undefined) {
    label = utf8(`${scope.name.length}:${scope.name}${collection}\0`)
    ofScope.set(collection, label)
  }
  return label
}

/** @param version 1 for an insert, the replaced row's version + 1 for a replace */
export function sealRow(
  sealer: RowSealer,
  randomBytes: (count: number) => Uint8Array,
  header: RowHeader,
  version: number,
  values: readonly Uint8Array[],
): NewRow {
  const row = { ...header, version }
  const clear = Buffer.allocUnsafe(clearHeaderBytes(row))
  writeClearHeader(clear, 0, row)
  const number = sealer.scope.currentKeyNumber
  const sealKey = { number, key: sealer.scope.recordKey(number) }
  const parts = sealAll(sealKey, [labelOf(sealer), clear], randomBytes(nonceBytes), values)
  return { ...row, parts }
}

/** A row whose head fits it; each value is opened when it is needed. */
interface OpenRow {
  /**
   * @returns bytes that the caller owns
   * @throws ApiError `storage_corrupt` when the value is not what was sealed for this row
   */
  readonly value: (index: number) => Uint8Array
  /** What is made of the bytes of a value, which are wiped then. */
  readonly read: <T>(index: number, make: (bytes: Uint8Array) => T) => T
  /** The same for a value that is UTF-8. */
  readonly text: (index: number) => string
}

const missing = () => new ApiError('storage_corrupt', 'a row lacks a value')

/** @throws ApiError `storage_corrupt` when the row is not exactly what was sealed, or elsewhere */
export function unsealRow(
  sealer: RowSealer,
  { clear, parts, partCount = parts.length }: Pick<Glimpse, 'clear' | 'parts' | 'partCount'>,
): OpenRow {
  const [head] = parts
  if (head === undefined) throw missing()
  const opener: Opener = unsealAll(sealer.scope.recordKey, [labelOf(sealer), clear], head)
  if (opener.count !== partCount - 1) throw missing()
  const sealedAt = (index: number): Uint8Array => {
    const sealed = parts[index + 1]
    if (sealed === undefined) throw missing()
    return sealed
  }
  return {
    value: index => opener.open(index, sealedAt(index)),
    read: (index, make) => opener.read(index, sealedAt(index), make),
    text: index => opener.read(index, sealedAt(index), utf8Text),
  }
}

/**
 * All values of a row, in their order.
 * @throws ApiError `storage_corrupt` when the row is not exactly what was sealed, or elsewhere
 */
export function unsealEveryValue(
  sealer: RowSealer,
  row: Pick<Row, 'clear' | 'parts'>,
): Uint8Array[] {
  const opened = unsealRow(sealer, row)
  return row.parts.slice(1).map((_, index) => opened.value(index))
}

/**
 * A row as it would be read, for what is opened in place of one that is not there. It is kept for
 * good, and its parts as copies: each would keep a slab of other values alive.
 */
export const inNoStore = (row: NewRow): Row =>
  storedRow(0, { ...row, parts: row.parts.map(part => Uint8Array.from(part)) })

/*
 * Records that are kept as one sealed JSON text, in the installation's key scope: they are looked
 * up before a tenant is known. What a row is found by is its feature's to say.
 */

interface SealDeps {
  readonly keys: Keys
  readonly randomBytes: (count: number) => Uint8Array
}

interface JsonRecord<T> {
  /** @param version 1 for a new record, one more with each change */
  readonly seal: (sealing: SealDeps, record: T, header: RowHeader, version: number) => NewRow
  /** @throws ApiError `storage_corrupt` when the row is not what was sealed */
  readonly open: (keys: Keys, row: Row) => T
}

export function jsonRecord<T>(collection: Collection): JsonRecord<T> {
  const sealerOf = ({ installation: scope }: Keys): RowSealer => ({ scope, collection })
  return {
    seal: ({ keys, randomBytes }, record, header, version) =>
      sealRow(sealerOf(keys), randomBytes, header, version, [utf8(JSON.stringify(record))]),
    open: (keys, row) => JSON.parse(unsealRow(sealerOf(keys), row).text(0)) as T,
  }
}

/*
 * Reading, deciding and writing on behalf of a credential, with the memory that it may take.
 */

/*
 * Room for what one request needs to be answered: rows that are read for it, what is opened of
 * them, and the answer itself until it was sent.
 *
 * A caller who reads much says so before it is opened. Source: contract section 16 (`decision:`).
 */

export interface Budget {
  /**
   * So many bytes at a time. What was asked for before counts towards it.
   * @throws ApiError `overloaded` where so many are not free
   */
  readonly needs: (bytes: number) => void
}

/** How many tokens an answer shows, by how much of them: whole, masked, without their data. */
export type ShownCounts = Record<'reveal' | 'mask' | 'redact', number>

/** Who asks, with the room of its request; absent where nobody bounds it, and nobody counts. */
export interface Budgeted {
  readonly room?: Budget | undefined
  readonly shown?: ShownCounts | undefined
}

/** To be called once it is known that the token is in the answer. */
export function noteShown({ shown }: Budgeted, transform: keyof ShownCounts | undefined): void {
  if (shown !== undefined && transform !== undefined) shown[transform] += 1
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** @throws ApiError `overloaded` where there is no room for all of them */
export function makeRoom({ room }: Budgeted, rows: readonly Row[]): void {
  room?.needs(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}

/*
 * Read, decide, write once: the one pattern by which every feature changes the store.
 */

/** Where a row stood when it was read. */
interface RowVersion {
  readonly ordinal: number
  readonly version: number
}

/** What an operation has done, as it is kept in JSON: ids and verdicts, never data. */
export type Effect =
  string | number | boolean | null | readonly Effect[] | { readonly [name: string]: Effect }

/** On whose behalf is written: a write lands only while all these rows stand unchanged. */
export interface WriteContext {
  readonly credential: RowVersion
  readonly dependsOn: readonly Pick<WriteContext, 'credential'>[]
  /** What is to land in the same write as the operation, or both not at all. */
  readonly along?: ((effect: Effect) => readonly Change[]) | undefined
}

/**
 * The credential of a write, or what it rests on, was changed or deleted meanwhile, so nothing was
 * written: authentication decides anew under what it holds now.
 */
export class CredentialMoved extends Error {}

/** The place of what was to land along was taken meanwhile, so nothing was written. */
export class AlongTaken extends Error {}

const requireRow = ({ ordinal, version }: RowVersion): Change => ({
  require: ordinal,
  ifVersion: version,
})

/**
 * Writes on behalf of a credential. Without changes only what lands along is written, if anything.
 * What lands along comes last: its rows have greater ordinals than those of the operation.
 * @param effectOf what the changes do; asked where something lands along with them
 * @returns whether it landed; `false` when a row moved or a unique was taken meanwhile
 * @throws CredentialMoved, AlongTaken
 */
export async function writeAs(
  store: Store,
  { credential, dependsOn, along }: WriteContext,
  changes: readonly Change[],
  effectOf: () => Effect = () => null,
): Promise<boolean> {
  if (changes.length === 0 && along === undefined) return true
  const stand = [requireRow(credential), ...dependsOn.map(backer => requireRow(backer.credential))]
  const outcome = await store.write([...stand, ...changes, ...(along?.(effectOf()) ?? [])])
  if (outcome.ok) return true
  if (outcome.at < stand.length) throw new CredentialMoved()
  if (outcome.at >= stand.length + changes.length) throw new AlongTaken()
  return false
}

/** What is told of a write that others were always faster than. */
export const changedByOthers = () =>
  new ApiError('conflict', 'This is being changed by others. Try again.')

/**
 * Of a row that is told as done: a read may show what is on one machine alone, so it is written
 * that it stands.
 * @throws ApiError `conflict` where it stands no more
 */
export async function standing(store: Pick<Store, 'write'>, row: Row): Promise<Row> {
  const outcome = await store.write([{ require: row.ordinal, ifVersion: row.version }])
  if (!outcome.ok) throw changedByOthers()
  return row
}

/**
 * Repeats read, decide and write until the write lands on what was read.
 * @param attempt gives its result when the write landed, `undefined` to be repeated
 * @throws ApiError `conflict` when others are always faster
 */
export async function untilWritten<T>(
  attempt: () => Promise<{ readonly result: T } | undefined>,
): Promise<T> {
  for (let count = 0; count < writeAttemptsMax; count += 1) {
    const landed = await attempt()
    if (landed !== undefined) return landed.result
  }
  throw changedByOthers()
}

/*
 * Turns: in one process, the writers of one row go one after the other.
 *
 * Only to spare them from failing each other over and over: that a write lands on what was read is
 * decided by the store, also against writers of other processes. Credentials have turns, so that
 * nobody waits for all the writes that another one has brought.
 */

/** Of each row that is being written: who waits, by the ordinal of their credential. */
const waitingFor = new Map<string, FairQueue<() => void>>()

function beginNext(key: string, waiting: FairQueue<() => void>): void {
  for (const [owner] of waiting.heads()) {
    waiting.take(owner)?.()
    return
  }
  waitingFor.delete(key)
}

/**
 * Runs the task when no other one of the same digest is under way, whose end may be well or badly.
 * @param digest a unique of the row; keyed, so it is the row's own among all stores
 * @param owner  the ordinal of the credential on whose behalf it runs
 */
export async function inTurn<T>(
  digest: Uint8Array,
  owner: number,
  task: () => Promise<T>,
): Promise<T> {
  const key = hexOf(digest)
  const known = waitingFor.get(key)
  const waiting = known ?? makeFairQueue()
  if (known === undefined) waitingFor.set(key, waiting)
  else await new Promise<void>(resolve => waiting.add(owner, resolve))
  try {
    return await task()
  } finally {
    beginNext(key, waiting)
  }
}
