/**
 * Simulates a change of grants: which tokens an application would see otherwise. Nothing changes.
 * @module
 */
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import { accessSamplesMax } from '../limits/limits.ts'
import { noteAbout, type Budgeted } from '../records/budgeted.ts'
import type { Grants } from '../rules/access.ts'
import type { AccessChange } from '../rules/access-changes.ts'
import type { Caller } from '../rules/caller.ts'
import { checkGrants } from './application-grants.ts'
import { findApplication } from './application-service.ts'
import type { SimulateBody } from './simulate-schema.ts'

/** Features do not import each other, so the comparison over tokens is passed in. */
export interface SimulateDeps extends Deps {
  /** @param samplesMax  ids in all */
  readonly compareAccess: (
    tenantId: string,
    before: Grants,
    after: Grants,
    samplesMax: number,
  ) => Promise<readonly AccessChange[]>
}

/**
 * Ids are for callers who may read the audit log, which has them: no other manager can list tokens.
 * @returns JSON text
 * @throws ApiError `forbidden`, `not_found`, `invalid_request` for grants it could not have
 */
export async function simulate(
  deps: SimulateDeps,
  caller: Caller & Budgeted,
  { application_id: id, proposed }: SimulateBody,
): Promise<string> {
  const held = caller.grants.permissions
  if (!held.includes('application:read')) {
    throw new ApiError('forbidden', 'expected a credential with application:read too')
  }
  const { record } = await findApplication(deps, caller.tenantId, id)
  noteAbout(caller, id)
  const after = checkGrants(record.type, proposed)
  const samplesMax = held.includes('log:read') ? accessSamplesMax : 0
  const changes = await deps.compareAccess(caller.tenantId, record, after, samplesMax)
  return JSON.stringify({ changes })
}
