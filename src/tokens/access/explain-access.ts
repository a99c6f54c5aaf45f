/**
 * Explains to a manager, who may read no tokens, what an application or a session would get of one.
 *
 * Tells whether a token exists and where it is as far as rules distinguish places, and nothing of
 * its content; look-ups in vain are counted as guesses.
 * @module
 */
import { ApiError, invalid } from '../../lib/errors.ts'
import { noteAbout, noteRule, reserveRows, type Budgeted } from '../../records/budgeted.ts'
import { isExpired } from '../../records/expiry.ts'
import { type Grants, type RuledPlace } from '../../rules/access.ts'
import { normaliseContainer } from '../../rules/container-paths.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertLookupsLeft, spendLookup } from '../find/guesses.ts'
import { absentToken } from '../read/load.ts'
import { tokenUnique } from '../token-id.ts'
import { unsealToken, verdictParts, type TokenRecord } from '../token-record.ts'
import type { AccessDeps } from './access-deps.ts'
import { explainAccess, maskEffectOf } from './print-explanation.ts'
import type { ExplainBody } from './schema.ts'
import type { AskedAccess } from './token-operations.ts'

async function findRecord(
  deps: AccessDeps,
  caller: Caller & Budgeted,
  id: string,
): Promise<TokenRecord> {
  const { keys, store } = deps
  const { tenantId } = caller
  assertLookupsLeft(deps, caller, 'token:read')
  const unique = tokenUnique(keys, tenantId, id)
  const glimpse = await store.glance(unique, verdictParts)
  const isShort = glimpse !== undefined && glimpse.parts.length < verdictParts
  const found = isShort ? await store.find(unique) : glimpse
  if (found === undefined || isExpired(found, deps.now())) {
    spendLookup(deps, caller, 'token:read')
    throw absentToken()
  }
  reserveRows(caller, [found])
  return unsealToken(keys, tenantId, found).record
}

/** An explanation tells what the application or session holds, as reading it would. */
function assertMayRead({ grants }: Caller, { session_id: sessionId }: ExplainBody): void {
  const needed = ['application:read', ...(sessionId == null ? [] : ['session:read'])] as const
  for (const permission of needed) {
    if (grants.permissions.some(held => held === permission)) continue
    throw new ApiError('forbidden', `expected a credential with ${permission} too`)
  }
}

/** @throws ApiError `invalid_request` unless exactly one of two members is there */
function assertEither(body: ExplainBody, one: keyof ExplainBody, other: keyof ExplainBody): void {
  if ((body[one] == null) !== (body[other] == null)) return
  throw invalid(one, `expected either ${one} or ${other}`)
}

/** @throws ApiError `invalid_request` */
function askedOf(body: ExplainBody): AskedAccess {
  const { operation, permission } = body
  if (operation != null && permission == null) return { operation }
  if (permission != null && operation == null) return { permission }
  throw invalid('permission', 'expected either a permission or an operation')
}

const placeOf = ({ id, containers }: NonNullable<ExplainBody['place']>): RuledPlace => ({
  id: id ?? '',
  containers: containers.map((container, index) =>
    normaliseContainer(container, `place.containers[${index}]`),
  ),
})

function grantsAskedFor(
  deps: AccessDeps,
  { tenantId }: Caller,
  { application_id: applicationId, session_id: sessionId }: ExplainBody,
): Promise<Grants> {
  if (sessionId != null) return deps.grantsOfSession(tenantId, sessionId)
  return deps.grantsOf(tenantId, applicationId ?? '')
}

/**
 * @returns the JSON text of the explanation
 * @throws ApiError `not_found` for an absent application, session or token; `invalid_request`;
 *   `forbidden`; `too_many_requests` after too many look-ups in vain
 */
export async function explain(
  deps: AccessDeps,
  caller: Caller & Budgeted,
  body: ExplainBody,
): Promise<string> {
  assertMayRead(caller, body)
  assertEither(body, 'application_id', 'session_id')
  assertEither(body, 'token_id', 'place')
  const asked = askedOf(body)
  const { token_id: tokenId, place } = body
  const given = place == null ? undefined : placeOf(place)
  noteAbout(caller, body.application_id ?? body.session_id ?? '')
  const grants = await grantsAskedFor(deps, caller, body)
  const record = tokenId == null ? undefined : await findRecord(deps, caller, tokenId)
  if (record !== undefined) noteAbout(caller, record.id)
  const effect = record === undefined ? undefined : maskEffectOf(record)
  const at = record ?? given ?? { id: '', containers: [] }
  const explained = explainAccess(grants, asked, at, effect)
  noteRule(caller, explained.decided_by)
  return JSON.stringify(explained)
}
