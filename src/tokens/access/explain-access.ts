/**
 * Explains what an application would get of a token, to somebody who may not read tokens.
 *
 * Tells whether a token exists and where it is as far as rules distinguish places, and nothing of
 * its content; look-ups in vain are counted as guesses.
 * @module
 */
import { ApiError, invalid } from '../../lib/errors.ts'
import { noteAbout, noteRule, type Budgeted } from '../../records/budgeted.ts'
import { isExpired } from '../../records/deadline.ts'
import { normaliseContainer, type TokenPlace } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import { assertLookupsLeft, spendLookup } from '../find/guesses.ts'
import { absentToken } from '../read/load.ts'
import { tokenUnique } from '../token-id.ts'
import { unsealToken, verdictParts, type TokenRecord } from '../token-record.ts'
import type { AccessDeps } from './access-deps.ts'
import { explainAccess, maskEffectOf } from './print-explanation.ts'
import type { ExplainBody } from './schema.ts'

async function findRecord(deps: AccessDeps, caller: Caller, id: string): Promise<TokenRecord> {
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
  return unsealToken(keys, tenantId, found).record
}

/** An explanation tells what the application holds, as reading it would. */
function assertMayRead({ grants }: Caller): void {
  if (grants.permissions.includes('application:read')) return
  throw new ApiError('forbidden', 'expected a credential with application:read too')
}

const placeOf = ({ id, containers }: NonNullable<ExplainBody['place']>): TokenPlace => ({
  id: id ?? '',
  containers: containers.map((container, index) =>
    normaliseContainer(container, `place.containers[${index}]`),
  ),
})

/**
 * @returns the JSON text of the explanation
 * @throws ApiError `not_found` for an absent application or token; `invalid_request`;
 *   `too_many_requests` after too many look-ups in vain
 */
export async function explain(
  deps: AccessDeps,
  caller: Caller & Budgeted,
  { application_id: applicationId, permission, token_id: tokenId, place }: ExplainBody,
): Promise<string> {
  assertMayRead(caller)
  if ((tokenId == null) === (place == null)) {
    throw invalid('token_id', 'expected either a token_id or a place')
  }
  const given = place == null ? undefined : placeOf(place)
  noteAbout(caller, applicationId)
  const grants = await deps.grantsOf(caller.tenantId, applicationId)
  const record = tokenId == null ? undefined : await findRecord(deps, caller, tokenId)
  if (tokenId != null) noteAbout(caller, tokenId)
  const explained = explainAccess(grants, permission, record ?? given ?? { id: '', containers: [] })
  noteRule(caller, explained.decided_by)
  const mask = record === undefined ? {} : { mask_effect: maskEffectOf(record) }
  return JSON.stringify({ ...explained, ...mask })
}
