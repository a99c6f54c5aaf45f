/**
 * Idempotency keys: what the first success of a key has done is kept, and told to every repetition.
 *
 * A key counts for one credential, method, path and query. Its effect is kept in a sealed row of
 * the tenant that lands in the very write of the operation: a caller who repeats after a crash
 * finds the first effect or none, and of two processes one write lands. It holds ids and verdicts,
 * never data: answers are made anew from what stands. A failure leaves nothing.
 * decision: the credential is the row of the application or session: the holder of its new key
 * repeats what it did with the old one, and sees what it may see now. Source: contract section 1.
 * @module
 */
import { hexOf, utf8 } from '../lib/bytes.ts'
import { uniqueDigest, type Keys } from '../crypto/keyring.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError, invalid } from '../lib/errors.ts'
import {
  idempotencyEffectBytesMax,
  idempotencyKeyCharsMax,
  idempotencyKeptMs,
  retryAfterSeconds,
} from '../limits/limits.ts'
import { isExpired } from '../records/expiry.ts'
import { unsealEveryValue, unsealRow, sealRow, type RowSealer } from '../records/seal-row.ts'
import { removalOf } from '../records/read-row.ts'
import { confirmRow, type Effect, type Past } from '../records/write-rows.ts'
import type { Change, Row } from '../store/contract.ts'
import { agreedHeader, headerNamesOf, rawQuery, visibleAscii, type Params } from './request.ts'
import { takesIdempotencyKey, type Operation } from './operation.ts'
import type { Admission } from './admission.ts'
import { digestOf, documentText } from './body-digest.ts'
import type { Exchange } from './exchange.ts'

/** The place of the effect that is kept for one idempotency key. */
export interface Slot {
  readonly sealer: RowSealer
  readonly unique: Uint8Array
  /** Hexadecimal digest of the body as it was sent. */
  readonly body: string
  /** Digest of its JSON document, however written; `undefined` if it is none. */
  readonly document: () => Promise<string | undefined>
  /** Result of `document`, once that is to be kept. */
  keptDocument: string | undefined
  /** Effect of an earlier request: then that is told, and nothing runs. */
  done: Past | undefined
  /** Charges what the slot tells of its body, as `Operation.chargeRepeat`. */
  charge: (count: 0 | 1) => void
  /** Removes the expired row in whose place the new one is kept. */
  leaving: readonly Change[]
}

const shownName = 'SVC-IDEMPOTENCY-KEY'
/**
 * The key of a request; `undefined` without one, and for methods that need none.
 * @throws ApiError `invalid_request` for a key that is too long or not visible ASCII, and for two
 *   that differ
 */
export function readIdempotencyKey(
  { settings }: Pick<Deps, 'settings'>,
  operation: Operation,
  request: Request,
): string | undefined {
  if (!takesIdempotencyKey(operation)) return undefined
  const key = agreedHeader(request, headerNamesOf(settings).idempotency)
  if (key === undefined) return undefined
  if (key === null) throw invalid(shownName, 'expected one key: the headers for it differ')
  if (key.length <= idempotencyKeyCharsMax && visibleAscii.test(key)) return key
  const expected = `expected 1 to ${idempotencyKeyCharsMax} visible ASCII characters`
  throw invalid(shownName, expected)
}

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'idempotency',
})

/** A slot depends on the parameters and the query, not on a trailing slash. */
interface SlotRequest {
  readonly request: Pick<Request, 'url'>
  readonly params: Params
}

/** @param body as it was sent; empty where none is read */
export function slotOf(
  { keys, turns }: Pick<Deps, 'keys' | 'turns'>,
  caller: Pick<Caller, 'tenantId' | 'applicationId' | 'credential'>,
  { method, path }: Pick<Operation, 'method' | 'path'>,
  { request: { url }, params }: SlotRequest,
  key: string,
  body: Uint8Array,
): Slot {
  const { tenantId, credential } = caller
  const what = [method, key, path, ...Object.values(params), rawQuery(url)]
  const fields = [String(credential.ordinal), ...what]
  const pause = () => turns.next(caller)
  let document: Promise<string | undefined> | undefined
  return {
    // A rotation makes other scopes, and a slot outlives the try that found it.
    get sealer() {
      return sealerOf(keys, tenantId)
    },
    unique: uniqueDigest(keys.tenant(tenantId), 'idempotency', ...fields),
    body: digestOf(keys, tenantId, key, 'bytes', body),
    document: () =>
      (document ??= documentText(body, pause).then(
        text => text && digestOf(keys, tenantId, key, 'document', text),
      )),
    keptDocument: undefined,
    done: undefined,
    charge: () => {},
    leaving: [],
  }
}

/** The value of a row. */
interface IdempotencyRecord {
  readonly body: string
  /** Absent where the body was no JSON. */
  readonly document?: string
  /** Absent where it was too long. */
  readonly effect?: Effect
}

const conflict = (message: string) => new ApiError('conflict', message)

/** The one conflict that passes by itself: so it says when to ask again. */
const underWay = () =>
  new ApiError(
    'conflict',
    'A request with this idempotency key is under way.',
    undefined,
    undefined,
    retryAfterSeconds,
  )

export const notKept = () => conflict('This was done before, and its answer could not be kept.')

/** Clients write a retry anew: it is the same where it is the same document. */
const isSameBody = async (slot: Slot, { body, document }: IdempotencyRecord): Promise<boolean> =>
  body === slot.body || (document !== undefined && document === (await slot.document()))

async function doneBy(slot: Slot, row: Row): Promise<Past> {
  const kept = JSON.parse(unsealRow(slot.sealer, row).text(0)) as IdempotencyRecord
  const { effect } = kept
  slot.charge(0)
  if (!(await isSameBody(slot, kept))) {
    slot.charge(1)
    throw conflict('idempotency key used with another body')
  }
  if (effect === undefined) throw notKept()
  return { effect, ordinal: row.ordinal }
}

/**
 * @throws ApiError `conflict` where it was done with another body, or cannot be told again,
 *   `too_many_requests` where too many other bodies were sent
 */
export async function lookUp({ store, settled }: Deps, slot: Slot): Promise<void> {
  const row = await store.find(slot.unique)
  slot.leaving = []
  if (row === undefined) return
  if (isExpired(row, settled())) slot.leaving = [removalOf(row)]
  else slot.done = await doneBy(slot, await confirmRow(store, row))
}

/** @returns what lands along with an operation: its effect, in the place of what leaves */
export const keeperOf =
  (deps: Deps, slot: Slot) =>
  (effect: Effect): readonly Change[] => {
    const isShort = Buffer.byteLength(JSON.stringify(effect)) <= idempotencyEffectBytesMax
    const kept: IdempotencyRecord = {
      body: slot.body,
      ...(slot.keptDocument === undefined ? {} : { document: slot.keptDocument }),
      ...(isShort ? { effect } : {}),
    }
    const deadlineMs = deps.now() + idempotencyKeptMs
    const rowHeader = { uniques: [slot.unique], terms: [], deadlineMs }
    const values = [utf8(JSON.stringify(kept))]
    const row = sealRow(slot.sealer, deps.randomBytes, rowHeader, 1, values)
    return [...slot.leaving, { insert: row }]
  }

/**
 * Opens all parts of a row.
 * @returns whether it can be found and ends by itself
 * @throws ApiError `storage_corrupt` when it is none of an idempotency key of that tenant
 */
export function isKeptEffect(keys: Keys, tenantId: string, row: Row): boolean {
  const sealer = sealerOf(keys, tenantId)
  unsealEveryValue(sealer, row)
  return row.uniques.length === 1 && row.terms.length === 0 && row.deadlineMs !== undefined
}

/**
 * The slot of a request with an idempotency key, which is its own until its answer unless another
 * request has done the same before.
 * @throws ApiError `conflict` while another request of this process is under way for the slot
 */
export async function openSlot(
  { deps, slotsUnderWay }: Admission & { readonly slotsUnderWay: Set<string> },
  operation: Operation,
  x: Exchange,
  caller: Caller,
  key: string,
  body: Uint8Array = new Uint8Array(),
): Promise<Slot> {
  const slot = slotOf(deps, caller, operation, x, key, body)
  slot.charge = count => operation.chargeRepeat?.(caller, count)
  await lookUp(deps, slot)
  if (slot.done !== undefined) return slot
  const name = hexOf(slot.unique)
  if (slotsUnderWay.has(name)) throw underWay()
  slotsUnderWay.add(name)
  x.keyLease = { release: () => slotsUnderWay.delete(name) }
  slot.keptDocument = await slot.document()
  return slot
}
