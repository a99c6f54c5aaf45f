/**
 * Replaces the name and grants of an application, or tells what that would do.
 *
 * Source: contract section 13.
 * @module
 */
import type { Deps } from '../deps.ts'
import { ApiError } from '../lib/errors.ts'
import type { GrantsPair } from '../rules/access-changes.ts'
import type { Caller } from '../rules/caller.ts'
import { isLongToCompare, isWithin } from '../rules/grants.ts'
import type { Permission } from '../rules/permissions.ts'
import type { Change } from '../store/contract.ts'
import { heldKeys } from './api-keys.ts'
import { assertGrantsOfSomeType, checkGrants } from './application-grants.ts'
import type { ApplicationRecord, StoredApplication } from './application-record.ts'
import {
  anotherManagerStands,
  assertMayArm,
  assertMayGrant,
  canCreateApplications,
  changeApplication,
  findApplication,
  modified,
  replacement,
} from './application-service.ts'
import type { UpdateApplicationBody } from './schema.ts'
import type { SimulateDeps } from './simulate.ts'

const added = (before: readonly Permission[], after: readonly Permission[]) =>
  after.filter(permission => !before.includes(permission))

async function replaceGrants(
  deps: Deps,
  caller: Caller,
  stored: StoredApplication,
  body: UpdateApplicationBody,
): Promise<{ changes: readonly Change[]; result: ApplicationRecord }> {
  const { row, record } = stored
  const grants = checkGrants(record.type, body)
  assertMayGrant(caller, record.type, added(record.permissions, grants.permissions))
  if (isLongToCompare(grants, record)) await deps.turns.next(caller)
  if (!isWithin(grants, record)) assertMayArm(caller, record.type)
  const result = { ...record, name: body.name, ...grants, ...modified(deps, caller) }
  const disarms = canCreateApplications(record) && !canCreateApplications(result)
  const guard = disarms ? await anotherManagerStands(deps, caller, stored) : []
  return { changes: [...guard, replacement(deps, stored, result, heldKeys(row, record))], result }
}

/** Faults of the body are always reported: before it is told that there is no application. */
async function bodyFaultsFirst<T>(body: UpdateApplicationBody, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (thrown) {
    if (thrown instanceof ApiError && thrown.kind === 'not_found') assertGrantsOfSomeType(body)
    throw thrown
  }
}

/** The number of tokens is not told: a caller may lack the right to count them. */
async function assertFewNewReveals(
  { settings, countNewlyRevealed }: SimulateDeps,
  caller: Caller,
  pair: GrantsPair,
): Promise<void> {
  const { newRevealsMax } = settings
  if (newRevealsMax === undefined || isWithin(pair.after, pair.before)) return
  if ((await countNewlyRevealed(caller, pair)) <= newRevealsMax) return
  throw new ApiError(
    'conflict',
    `This change would newly reveal more than ${newRevealsMax} tokens: see which by ` +
      'dry_run=true, and send it with confirm=true.',
  )
}

/**
 * Replaces name, permissions and rules; the type stays.
 * @param isConfirmed  true to reveal any number of tokens, whatever the setting
 * @throws ApiError `invalid_request` before `not_found`; `forbidden`; `conflict`, also for a change
 *   that would newly reveal more tokens than the setting allows
 */
export const updateApplication = (
  deps: SimulateDeps,
  caller: Caller,
  id: string,
  body: UpdateApplicationBody,
  isConfirmed: boolean,
): Promise<ApplicationRecord> =>
  bodyFaultsFirst(body, () =>
    changeApplication(deps, caller, id, async stored => {
      const decided = await replaceGrants(deps, caller, stored, body)
      const pair = { before: stored.record, after: decided.result }
      if (!isConfirmed) await assertFewNewReveals(deps, caller, pair)
      return decided
    }),
  )

/**
 * Returns an application before and after an update, and changes nothing.
 * @throws ApiError as `updateApplication`, but for the number of tokens
 */
export const previewUpdate = (
  deps: Deps,
  caller: Caller,
  id: string,
  body: UpdateApplicationBody,
): Promise<{ readonly before: ApplicationRecord; readonly after: ApplicationRecord }> =>
  bodyFaultsFirst(body, async () => {
    const stored = await findApplication(deps, caller.tenantId, id)
    const { result } = await replaceGrants(deps, caller, stored, body)
    return { before: stored.record, after: result }
  })
