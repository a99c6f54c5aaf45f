/**
 * Whether a session still stands: it ends with the application that created it and with the one
 * that authorized it, and with the keys by which they did. Source: contract section 12.
 *
 * decision: the session of an authorizer that is gone costs a look-up and an opening more than what
 * else is refused, two openings where that one has another key: it tells whoever has the session's
 * key. One of an older version names no keys; it ends with both applications alone, and after 24
 * hours at most.
 * @module
 */
import type { Caller } from '../rules/caller.ts'
import type { SessionDeps } from './deps.ts'
import type { SessionRecord } from './record.ts'

/** The applications behind a session, as they stand. */
export interface Backing {
  readonly creator: Caller
  /** Absent until the session is authorized. */
  readonly authorizer?: Caller
}

/** @returns `undefined` for a session that has ended */
export async function findBacking(
  { findApplication }: SessionDeps,
  { tenantId, applicationId, keyNumber, authorization }: SessionRecord,
): Promise<Backing | undefined> {
  const creator = await findApplication(tenantId, applicationId, keyNumber)
  if (creator === undefined || authorization === undefined) return creator && { creator }
  const { authorizedBy, keyNumber: authorizedUnder } = authorization
  const authorizer = await findApplication(tenantId, authorizedBy, authorizedUnder)
  return authorizer === undefined ? undefined : { creator, authorizer }
}
