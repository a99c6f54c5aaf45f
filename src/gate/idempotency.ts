/**
 * Idempotency keys: what the first success of a key has done is kept, and told to every repetition.
 *
 * A key counts for one credential, method, path and query. What is kept is a sealed row of the
 * tenant that lands in the very write of the operation: whoever repeats after a crash finds the
 * first effect or none, and of two processes one write lands. It holds ids and verdicts, never
 * data: answers are made anew from what stands. A failure leaves nothing.
 * decision: the credential is the row of the application or session: whoever has its new key
 * repeats what it did with the old one, and sees what it may see now. Source: contract section 1.
 * @module
 */
import { hexOf, utf8 } from '../bytes.ts'
import { uniqueDigest } from '../crypto/digest.ts'
import type { Keys } from '../crypto/scope.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { ApiError, invalid } from '../errors.ts'
import { idempotencyEffectBytesMax, idempotencyKeyCharsMax, idempotencyKeptMs } from '../limits.ts'
import { isExpired } from '../records/deadline.ts'
import { openEveryValue, openRow, sealRow, type RowSealer } from '../records/sealed-row.ts'
import type { Effect } from '../records/write.ts'
import type { Change, Row } from '../store/contract.ts'
import { agreedHeader, headerNamesOf } from './header-names.ts'
import type { Params } from './paths.ts'
import type { Done, Route } from './operation.ts'

/** The place where it is kept what one key has done. */
export interface Slot {
  readonly sealer: RowSealer
  readonly unique: Uint8Array
  /** Hexadecimal digest of the body. */
  readonly body: string
}

const shownName = 'SVC-IDEMPOTENCY-KEY'
const visibleAscii = /^[\x21-\x7e]+$/

/** The others change nothing, or the same thing once more. */
const idempotentMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * decision: what only reads is asked anew, since what may be read can change; a second session
 * harms nobody, but a repeated one would be the session of somebody else.
 */
const unkeptPermissions: ReadonlySet<string> = new Set(['token:read', 'token:search', 'token:use'])
const unkeptNames: ReadonlySet<string> = new Set(['createSession'])

/** What of a route decides whether and where it is kept what its requests have done. */
type KeptRoute = Pick<Route, 'method' | 'name' | 'permission'>

/** Whether it is kept what requests of a route have done. */
export const isKept = ({ method, name, permission }: KeptRoute): boolean =>
  idempotentMethods.has(method) &&
  !unkeptNames.has(name) &&
  (permission === undefined || !unkeptPermissions.has(permission))

/**
 * The key of a request; `undefined` without one, and for methods that need none.
 * @throws ApiError `invalid_request` for a key that is too long or not visible ASCII, and for two
 *   that differ
 */
export function readIdempotencyKey(
  { settings }: Pick<Deps, 'settings'>,
  route: KeptRoute,
  request: Request,
): string | undefined {
  if (!isKept(route)) return undefined
  const key = agreedHeader(request, headerNamesOf(settings).idempotency)
  if (key === undefined) return undefined
  if (key === null) throw invalid(shownName, 'expected one key, by whatever name')
  if (key.length <= idempotencyKeyCharsMax && visibleAscii.test(key)) return key
  const expected = `expected 1 to ${idempotencyKeyCharsMax} visible ASCII characters`
  throw invalid(shownName, expected)
}

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'idempotency',
})

/** As it was sent; empty where there is none. */
function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1)
}

/**
 * decision: the digest of the body is keyed by the idempotency key too, which is kept nowhere: of
 * a body that is gone nothing can be guessed by it, not even with the keys of the vault.
 */
function bodyDigest(slotKeys: Keys, tenantId: string, key: string, body: Uint8Array): string {
  const plain = new Bun.CryptoHasher('sha256').update(body).digest('hex')
  return hexOf(uniqueDigest(slotKeys.tenant(tenantId), 'idempotency-body', key, plain))
}

/**
 * @param params what the pattern of the route holds: a trailing slash is nothing
 * @param body as it was sent; empty where none is read
 */
export function slotOf(
  { keys }: Pick<Deps, 'keys'>,
  { tenantId, credential }: Pick<Caller, 'tenantId' | 'credential'>,
  route: Pick<Route, 'method' | 'path'>,
  request: Pick<Request, 'url'>,
  params: Params,
  key: string,
  body: Uint8Array,
): Slot {
  const what = [route.method, key, route.path, ...Object.values(params), queryOf(request.url)]
  const fields = [String(credential.ordinal), ...what]
  return {
    sealer: sealerOf(keys, tenantId),
    unique: uniqueDigest(keys.tenant(tenantId), 'idempotency', ...fields),
    body: bodyDigest(keys, tenantId, key, body),
  }
}

/** The value of a row. Those of older versions have no digest of a body, and may hold a reply. */
interface Kept {
  readonly body?: string
  /** Absent where it was too long. */
  readonly effect?: Effect
}

const conflict = (message: string) => new ApiError('conflict', message)

export const underWay = () => conflict('A request with this idempotency key is under way.')

export const notKept = () => conflict('This was done before, and its answer could not be kept.')

function doneBy(slot: Slot, row: Row): Done {
  const { body, effect } = JSON.parse(openRow(slot.sealer, row).text(0)) as Kept
  if (body === undefined) throw notKept()
  if (body !== slot.body) throw conflict('idempotency key used with another body')
  if (effect === undefined) throw notKept()
  return { effect, ordinal: row.ordinal }
}

/** What was done before, or what must leave for what will be. */
export type Found = { readonly done: Done } | { readonly leaving: readonly Change[] }

/** @throws ApiError `conflict` where it was done with another body, or cannot be told again */
export async function findDone({ store, settled }: Deps, slot: Slot): Promise<Found> {
  const row = await store.find(slot.unique)
  if (row === undefined) return { leaving: [] }
  if (!isExpired(row, settled())) return { done: doneBy(slot, row) }
  return { leaving: [{ remove: row.ordinal, ifVersion: row.version }] }
}

/** @returns what lands along with an operation: its effect, in the place of what leaves */
export const keeperOf =
  (deps: Deps, slot: Slot, leaving: readonly Change[]) =>
  (effect: Effect): readonly Change[] => {
    const isShort = Buffer.byteLength(JSON.stringify(effect)) <= idempotencyEffectBytesMax
    const kept: Kept = { body: slot.body, ...(isShort ? { effect } : {}) }
    const deadlineMs = deps.now() + idempotencyKeptMs
    const rowHeader = { uniques: [slot.unique], terms: [], deadlineMs }
    const values = [utf8(JSON.stringify(kept))]
    return [...leaving, { insert: sealRow(slot.sealer, deps.randomBytes, rowHeader, 1, values) }]
  }

/**
 * Opens all parts of a row.
 * @returns whether it can be found and ends by itself
 * @throws ApiError `storage_corrupt` when it is none of an idempotency key of that tenant
 */
export function isKeptEffect(keys: Keys, tenantId: string, row: Row): boolean {
  const sealer = sealerOf(keys, tenantId)
  openEveryValue(sealer, row)
  return row.uniques.length === 1 && row.terms.length === 0 && row.deadlineMs !== undefined
}
