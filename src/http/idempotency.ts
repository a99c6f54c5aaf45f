/**
 * Idempotency keys: the first success of a key is kept, and answers every repetition.
 *
 * A key counts for one credential, method and path, and while that credential stands unchanged.
 * It is a sealed row of the tenant, so it holds over restarts and for every process: first a
 * claim, with a short deadline against crashes, then the reply in its place. A failure leaves
 * nothing.
 * Known window: a crash after the operation and before its reply is kept makes a repetition run
 * again once the claim is over. Source: contract section 1.
 * @module
 */
import { utf8 } from '../bytes.ts'
import { uniqueDigest } from '../crypto/digest.ts'
import type { Keys } from '../crypto/scope.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../domain/caller.ts'
import { ApiError, invalid } from '../errors.ts'
import {
  idempotencyClaimMs,
  idempotencyKeyCharsMax,
  idempotencyReplyBytesMax,
  idempotencyReplyMs,
} from '../limits.ts'
import { isExpired } from '../records/deadline.ts'
import { openEveryValue, openRow, sealRow, type RowSealer } from '../records/sealed-row.ts'
import type { Change, NewRow, Row } from '../store/contract.ts'
import type { Intake } from './intake.ts'
import type { Params } from './paths.ts'
import type { Reply, Route } from './route.ts'

/** The place where the reply to one key is kept. */
export interface Slot {
  readonly sealer: RowSealer
  readonly unique: Uint8Array
  /** Of the caller's credential: another one may do other things. */
  readonly credentialVersion: number
}

const header = 'svc-idempotency-key'
const visibleAscii = /^[\x21-\x7e]+$/

/** The others change nothing, or the same thing once more. */
const idempotentMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * decision: what only reads is asked anew, since what may be read can change; a second session
 * harms nobody, but a repeated one would be the session of somebody else.
 */
const unkeptPermissions: ReadonlySet<string> = new Set(['token:read', 'token:search', 'token:use'])
const unkeptPaths: ReadonlySet<string> = new Set(['/sessions'])

/** What of a route decides whether and where its replies are kept. */
type KeptRoute = Pick<Route, 'method' | 'path' | 'permission'>

/** Whether the replies of a route are kept for repetitions. */
export const isKept = ({ method, path, permission }: KeptRoute): boolean =>
  idempotentMethods.has(method) &&
  !unkeptPaths.has(path) &&
  (permission === undefined || !unkeptPermissions.has(permission))

/**
 * decision: the key of a public application is in many browsers, so that a guessed idempotency key
 * of another one must not answer: there the body counts too.
 */
async function sharedBody(caller: Caller, intake: Pick<Intake, 'read'>): Promise<string> {
  if (caller.type !== 'public') return ''
  return new Bun.CryptoHasher('sha256').update(await intake.read()).digest('hex')
}

const sealerOf = (keys: Keys, tenantId: string): RowSealer => ({
  scope: keys.tenant(tenantId),
  collection: 'idempotency',
})

/**
 * The slot that a request names; `undefined` without a key, and for methods that need none.
 * @param params what the pattern of the route holds: a trailing slash is nothing
 * @throws ApiError `invalid_request` for a key that is too long or not visible ASCII
 */
export async function findSlot(
  deps: Deps,
  caller: Caller,
  route: KeptRoute,
  request: Request,
  params: Params,
  intake: Pick<Intake, 'read'>,
): Promise<Slot | undefined> {
  const key = request.headers.get(header)
  if (key === null || !isKept(route)) return undefined
  if (key.length > idempotencyKeyCharsMax || !visibleAscii.test(key)) {
    const expected = `expected 1 to ${idempotencyKeyCharsMax} visible ASCII characters`
    throw invalid('SVC-IDEMPOTENCY-KEY', expected)
  }
  const scope = deps.keys.tenant(caller.tenantId)
  const { ordinal, version } = caller.credential
  const holder = [String(ordinal), await sharedBody(caller, intake)]
  const fields = [...holder, request.method, key, route.path, ...Object.values(params)]
  return {
    sealer: sealerOf(deps.keys, caller.tenantId),
    unique: uniqueDigest(scope, 'idempotency', ...fields),
    credentialVersion: version,
  }
}

/** Value 0 of a row; value 1 is the body of a reply that has one. A claim has neither member. */
interface Kept {
  readonly reply?: Omit<Reply, 'json'>
  /** The operation was done, and its answer is too long, or holds what must not be stored. */
  readonly isNotKept?: true
  /** The version of the credential that it was done for. */
  readonly credentialVersion?: number
}

function rowOf(
  deps: Deps,
  slot: Slot,
  lifetimeMs: number,
  version: number,
  kept: Kept,
  json?: string,
): NewRow {
  const deadlineMs = deps.now() + lifetimeMs
  const rowHeader = { uniques: [slot.unique], terms: [], deadlineMs }
  const values = [JSON.stringify(kept), ...(json === undefined ? [] : [json])]
  return sealRow(slot.sealer, deps.randomBytes, rowHeader, version, values.map(utf8))
}

const underWay = () => new ApiError('conflict', 'A request with this idempotency key is under way.')

function replyOf(slot: Slot, row: Row): Reply {
  const opened = openRow(slot.sealer, row)
  const kept = JSON.parse(opened.text(0)) as Kept
  const { reply, credentialVersion } = kept
  if (kept.isNotKept === true) {
    throw new ApiError('conflict', 'This was done before, and its answer could not be kept.')
  }
  if (reply === undefined) throw underWay()
  if (credentialVersion !== slot.credentialVersion) {
    throw new ApiError('conflict', 'This was done before, and the credential was changed since.')
  }
  const json = opened.has(1) ? opened.text(1) : undefined
  return { ...reply, ...(json === undefined ? {} : { json }), isReplay: true }
}

/**
 * The reply that is kept, if there is one.
 * @throws ApiError `conflict` while the first request is under way
 */
export async function findReply(deps: Deps, slot: Slot): Promise<Reply | undefined> {
  const row = await deps.store.find(slot.unique)
  return row === undefined || isExpired(row, deps.now()) ? undefined : replyOf(slot, row)
}

/**
 * Opens all parts of a row.
 * @returns whether it can be found and ends by itself
 * @throws ApiError `storage_corrupt` when it is no claim and no reply of that tenant
 */
export function isReply(keys: Keys, tenantId: string, row: Row): boolean {
  const sealer = sealerOf(keys, tenantId)
  openEveryValue(sealer, row)
  return row.uniques.length === 1 && row.terms.length === 0 && row.deadlineMs !== undefined
}

/** @returns the ordinal of the claim, or the row of another request that was faster */
async function claim(deps: Deps, slot: Slot): Promise<number | Row> {
  const insert: Change = { insert: rowOf(deps, slot, idempotencyClaimMs, 1, {}) }
  const holder = await deps.store.find(slot.unique)
  if (holder !== undefined && !isExpired(holder, deps.settled())) return holder
  const leaving: Change[] =
    holder === undefined ? [] : [{ remove: holder.ordinal, ifVersion: holder.version }]
  const outcome = await deps.store.write([...leaving, insert])
  const [ordinal] = outcome.ok ? outcome.ordinals : []
  if (ordinal === undefined) throw underWay()
  return ordinal
}

/** The operation is done whatever becomes of this: what is not kept is only logged. */
async function keep(deps: Deps, slot: Slot, ordinal: number, reply: Reply): Promise<void> {
  const { json, holdsInput, ...rest } = reply
  const isNotKept = holdsInput === true || Buffer.byteLength(json ?? '') > idempotencyReplyBytesMax
  const { credentialVersion } = slot
  const replace = isNotKept
    ? rowOf(deps, slot, idempotencyReplyMs, 2, { isNotKept })
    : rowOf(deps, slot, idempotencyReplyMs, 2, { reply: rest, credentialVersion }, json)
  const outcome = await deps.store
    .write([{ replace, ordinal, ifVersion: 1 }])
    .catch(() => undefined)
  if (outcome?.ok !== true) deps.log('idempotent_reply_not_kept')
}

/** Left behind, a claim ends by itself. */
async function release(deps: Deps, ordinal: number): Promise<void> {
  await deps.store.write([{ remove: ordinal, ifVersion: 1 }]).catch(() => undefined)
}

/**
 * Runs an operation for its key once, and keeps its reply.
 * @throws what the operation throws; ApiError `conflict` while another request runs it
 */
export async function runOnce(
  deps: Deps,
  slot: Slot,
  operation: () => Promise<Reply>,
): Promise<Reply> {
  const claimed = await claim(deps, slot)
  if (typeof claimed !== 'number') return replyOf(slot, claimed)
  let reply: Reply
  try {
    reply = await operation()
  } catch (error) {
    await release(deps, claimed)
    throw error
  }
  await keep(deps, slot, claimed, reply)
  return reply
}
