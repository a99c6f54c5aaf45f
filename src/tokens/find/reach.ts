/**
 * Reach: the tokens that a caller may be told of when it deduplicates.
 *
 * In reach is what the caller's `token:create` covers, and which it may read or its own application
 * created. decision: "created under the same grants" (contract section 8) is `created_by`, which
 * stays where grants change; all sessions of a public application are one creator.
 * @module
 */
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { allOf, anyOf, type Bounds } from './bounds.ts'
import { tokenCriteria } from './criteria.ts'
import { visibleTokens } from './visibility.ts'

export interface Reach {
  readonly tokens: Bounds
  /** Those of them whose contents may be spoken of. The same object where that is all of them. */
  readonly readable: Bounds
}

/** Of parts that are all true of every token, `every` itself is left. */
function allOfSome(every: Bounds, parts: readonly Bounds[]): Bounds {
  const narrow = parts.filter(part => part !== every)
  return narrow.length === 0 ? every : allOf(narrow)
}

/** For sessions with conditions the bounds may be inexact. */
export function reachOf(
  { keys, settings }: Pick<Deps, 'keys' | 'settings'>,
  { tenantId, grants, applicationId }: Caller,
): Reach {
  const criteria = tokenCriteria(keys, tenantId)
  const { every } = criteria
  const readable = visibleTokens(criteria, grants, 'token:read')
  if (settings.tenantWideDeduplication) return { tokens: every, readable }
  const covered = visibleTokens(criteria, grants, 'token:create')
  const known = readable === every ? every : anyOf([readable, criteria.createdBy(applicationId)])
  const tokens = allOfSome(every, [covered, known])
  return { tokens, readable: known === every ? tokens : allOfSome(every, [covered, readable]) }
}
