/**
 * Sessions: created, authorized once, ended.
 * @module
 */
import { base58, uuidOf } from '../lib/bytes.ts'
import type { Deps } from '../deps.ts'
import type { Caller } from '../rules/caller.ts'
import { isLongToCompare, isWithin } from '../rules/grants.ts'
import { parseFutureInstant } from '../rules/instants.ts'
import { ApiError, invalid, invariant } from '../lib/errors.ts'
import { sessionMsDefault, sessionMsMax } from '../limits/limits.ts'
import { removalOf } from '../records/read-row.ts'
import { CredentialChanged, untilWritten, writeAs } from '../records/write-rows.ts'
import { Secret } from '../lib/secret.ts'
import { absentSession, sessionKeyPrefix } from './find-session-caller.ts'
import type { SessionDeps } from './session-deps.ts'
import { checkSessionGrants } from './session-grants.ts'
import type { AuthorizeSessionBody } from './schema.ts'
import {
  isUsable,
  nonceDigest,
  unsealSession,
  sealSession,
  sessionKeyDigest,
  sessionUnique,
  type SessionRecord,
  type StoredSession,
  findBacking,
} from './session-record.ts'

/*
 * Creating a session and authorizing it once.
 *
 * Source: spec, "Sessions"; contract section 12.
 */

const secretRandomBytes = 16

/** A new session; the plaintext of its key and nonce exists only here. */
interface NewSession {
  readonly id: string
  readonly key: Secret
  readonly nonce: Secret
  readonly expiresAtMs: number
}

const newSecret = (deps: Pick<Deps, 'randomBytes'>, prefix: string): Secret =>
  new Secret(prefix + base58(deps.randomBytes(secretRandomBytes)))

/** @param caller a public application */
export async function createSession(deps: Deps, caller: Caller): Promise<NewSession> {
  const { keys } = deps
  const { tenantId, applicationId, keyNumber } = caller
  const id = uuidOf(deps.randomBytes(16))
  const key = newSecret(deps, sessionKeyPrefix)
  const nonce = newSecret(deps, '')
  const createdAtMs = deps.now()
  // It ends with the key that creates it in any case (`findBacking`); the answer says so.
  const lastsMs = createdAtMs + sessionMsDefault
  const expiresAtMs = Math.min(lastsMs, caller.expiresAtMs ?? lastsMs)
  const made = { id, tenantId, applicationId, keyNumber }
  const record: SessionRecord = { ...made, createdAtMs, expiresAtMs }
  const uniques = [
    sessionKeyDigest(keys, key.reveal()),
    nonceDigest(keys, tenantId, nonce.reveal()),
    sessionUnique(keys, tenantId, id),
  ]
  const insert = sealSession(deps, record, uniques, 1)
  const landed = await writeAs(deps.store, caller, [{ insert }], { ids: () => [id] })
  invariant(landed, 'no two sessions draw the same key or nonce')
  return { id, key, nonce, expiresAtMs }
}

const unknownNonce = () =>
  new ApiError(
    'not_found',
    'There is no session with this nonce, or it has ended: create another one.',
  )

/** The session may have ended because the caller's own key did: then the caller is refused. */
async function assertStands(deps: SessionDeps, caller: Caller): Promise<void> {
  const { tenantId, applicationId, keyNumber } = caller
  const standing = await deps.findApplication(tenantId, applicationId, keyNumber)
  if (standing === undefined) throw new CredentialChanged()
}

/** Refuses an expired session, which cannot be authorized any more. */
async function findByNonce(
  deps: SessionDeps,
  caller: Caller,
  nonce: Uint8Array,
): Promise<StoredSession> {
  const row = await deps.store.find(nonce)
  if (row === undefined) throw unknownNonce()
  const session = unsealSession(deps.keys, row)
  const backing = await findBacking(deps, session.record)
  if (backing === undefined) await assertStands(deps, caller)
  if (backing === undefined || !isUsable(session.record, deps.now())) throw unknownNonce()
  return session
}

/** In milliseconds; `undefined` keeps the expiry of the creation. */
function readExpiry({ expires_at: text }: AuthorizeSessionBody, nowMs: number): number | undefined {
  if (text === undefined || text === null) return undefined
  const { epochMs } = parseFutureInstant(text, 'expires_at', nowMs)
  if (epochMs <= nowMs + sessionMsMax) return epochMs
  throw invalid('expires_at', 'expected an instant at most 24 hours ahead')
}

/**
 * Grants a session its permissions and uses up its nonce, in one write; a refusal leaves the nonce.
 * @param caller a private application: always holds at least one token permission, and no others
 * @returns the id of the session
 * @throws ApiError `invalid_request`; `not_found` for a nonce that is unknown, expired or of
 *   another tenant; `forbidden` for grants beyond the caller's own, unless a setting allows them;
 *   `conflict` for a used nonce
 */
export function authorizeSession(
  deps: SessionDeps,
  caller: Caller,
  body: AuthorizeSessionBody,
): Promise<string> {
  const grants = checkSessionGrants(body)
  const expiresAtMs = readExpiry(body, deps.now())
  const nonce = nonceDigest(deps.keys, caller.tenantId, body.nonce)
  const signature = { authorizedBy: caller.applicationId, keyNumber: caller.keyNumber }
  return untilWritten(async () => {
    const { row, record } = await findByNonce(deps, caller, nonce)
    if (isLongToCompare(grants, caller.grants)) await deps.turns.next(caller)
    if (deps.settings.sessionGrantsWithinAuthorizer && !isWithin(grants, caller.grants)) {
      throw new ApiError('forbidden', 'expected only grants that the caller holds itself')
    }
    if (record.authorization !== undefined) {
      throw new ApiError('conflict', 'This nonce has been used: create another session.')
    }
    const authorized: SessionRecord = {
      ...record,
      expiresAtMs: expiresAtMs ?? record.expiresAtMs,
      authorization: { grants, ...signature, authorizedAtMs: deps.now() },
    }
    const replace = sealSession(deps, authorized, row.uniques, row.version + 1)
    const change = { replace, ordinal: row.ordinal, ifVersion: row.version }
    const about = { ids: () => [record.id] }
    const landed = await writeAs(deps.store, caller, [change], about)
    return landed ? { result: record.id } : undefined
  })
}

/*
 * Ending a session before its time. Source: contract section 12.
 *
 * A manager ends any session of its tenant, a private application those that it authorized; any
 * other session is absent to it.
 */

const mayEnd = ({ type, applicationId }: Caller, { authorization }: SessionRecord): boolean =>
  type === 'management' || authorization?.authorizedBy === applicationId

/**
 * The session's key is refused from the moment this resolves, in every process.
 * @throws ApiError `not_found`
 */
export async function endSession(deps: SessionDeps, caller: Caller, id: string): Promise<void> {
  const { keys, store, now } = deps
  const unique = sessionUnique(keys, caller.tenantId, id)
  await untilWritten(async () => {
    const row = await store.find(unique)
    if (row === undefined) throw absentSession()
    const { record } = unsealSession(keys, row)
    const stands = isUsable(record, now()) && (await findBacking(deps, record)) !== undefined
    if (!stands || !mayEnd(caller, record)) throw absentSession()
    const landed = await writeAs(store, caller, [removalOf(row), { bumpGeneration: true }])
    return landed ? { result: undefined } : undefined
  })
}
