/**
 * Whether a session still stands: it ends with the application that created it and with the one
 * that authorized it, also when the key of either was made anew. Source: contract section 12.
 *
 * decision: the session of an authorizer that is gone costs a look-up and an opening more than what
 * else is refused, two openings where that one has another key: it tells whoever has the session's
 * key. One of an older version names no keys; it ends with both applications alone, and after 24
 * hours at most.
 * @module
 */
import type { Caller } from '../domain/caller.ts'
import type { SessionDeps } from './deps.ts'
import type { SessionRecord } from './record.ts'

/** The applications behind a session, as they stand. */
export interface Backing {
  readonly creator: Caller
  /** Absent until the session is authorized. */
  readonly authorizer?: Caller
}

async function findWithKey(
  { findApplication }: SessionDeps,
  tenantId: string,
  id: string,
  keyNumber: number | undefined,
): Promise<Caller | undefined> {
  const found = await findApplication(tenantId, id)
  return keyNumber === undefined || found?.keyNumber === keyNumber ? found : undefined
}

/** @returns `undefined` for a session that has ended */
export async function findBacking(
  deps: SessionDeps,
  { tenantId, applicationId, keyNumber, authorization }: SessionRecord,
): Promise<Backing | undefined> {
  const creator = await findWithKey(deps, tenantId, applicationId, keyNumber)
  if (creator === undefined || authorization === undefined) return creator && { creator }
  const { authorizedBy, keyNumber: authorizedUnder } = authorization
  const authorizer = await findWithKey(deps, tenantId, authorizedBy, authorizedUnder)
  return authorizer === undefined ? undefined : { creator, authorizer }
}
