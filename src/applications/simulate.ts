/**
 * Simulates a change of grants: which tokens an application would see otherwise. Nothing changes.
 * @module
 */
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import { accessSamplesMax } from '../limits/limits.ts'
import { noteAbout, type Budgeted } from '../records/budgeted.ts'
import type { GrantsPair, ShownChange } from '../rules/access-changes.ts'
import type { Caller } from '../rules/caller.ts'
import { checkGrants } from './application-grants.ts'
import { findApplication } from './application-service.ts'
import type { SimulateBody } from './simulate-schema.ts'

type Asker = Pick<Caller, 'tenantId' | 'applicationId' | 'credential'>

/** Features do not import each other, so questions about tokens are passed in. */
export interface SimulateDeps extends Deps {
  /**
   * @param samplesMax  ids in all
   * @param charge  takes the number of questions to the store, before the first is asked
   */
  readonly compareAccess: (
    caller: Asker & Budgeted,
    pair: GrantsPair,
    samplesMax: number,
    charge: (questions: number) => void,
  ) => Promise<readonly ShownChange[]>
  /** Returns how many tokens some permission reveals after and none did before. */
  readonly countNewlyRevealed: (caller: Asker, pair: GrantsPair) => Promise<number>
}

/** A simulation tells of the grants that stand, and counts tokens. @throws ApiError `forbidden` */
export function assertMaySimulate({ grants }: Caller): void {
  for (const permission of ['access:explain', 'application:read'] as const) {
    if (grants.permissions.includes(permission)) continue
    throw new ApiError('forbidden', `expected a credential with ${permission} too`)
  }
}

/** A request that simulates. */
interface SimulatingCall {
  readonly caller: Caller & Budgeted
  readonly countItems: (count: number) => void
}

/**
 * Each question to the store counts as a request. Ids are for callers who may read the audit log,
 * which has them: no other manager can list tokens.
 * @throws ApiError `too_many_requests`, `overloaded`
 */
export async function changesBetween(
  deps: Pick<SimulateDeps, 'compareAccess'>,
  { caller, countItems }: SimulatingCall,
  pair: GrantsPair,
): Promise<readonly ShownChange[]> {
  const samplesMax = caller.grants.permissions.includes('log:read') ? accessSamplesMax : 0
  const charge = (questions: number) => countItems(Math.max(questions, 1))
  const changes = await deps.compareAccess(caller, pair, samplesMax, charge)
  const named = new Set(changes.flatMap(({ samples }) => samples))
  for (const id of named) noteAbout(caller, id)
  return changes
}

/**
 * @returns JSON text
 * @throws ApiError `forbidden`, `not_found`, `invalid_request` for grants it could not have,
 *   `too_many_requests`, `overloaded`
 */
export async function simulate(
  deps: SimulateDeps,
  call: SimulatingCall,
  { application_id: id, proposed }: SimulateBody,
): Promise<string> {
  const { caller } = call
  assertMaySimulate(caller)
  const { record } = await findApplication(deps, caller.tenantId, id)
  noteAbout(caller, record.id)
  const after = checkGrants(record.type, proposed)
  return JSON.stringify({ changes: await changesBetween(deps, call, { before: record, after }) })
}
