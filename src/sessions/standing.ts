/**
 * Whether a session still stands: it ends with the application that created it and with the one
 * that authorized it, also when the key of either was made anew. Source: contract section 12.
 *
 * What is refused costs the same whatever the reason: both are looked up for every session.
 * decision: a session of an older version names no keys; it ends with both applications alone, and
 * after 24 hours at most.
 * @module
 */
import type { Caller } from '../domain/caller.ts'
import type { SessionDeps } from './deps.ts'
import type { SessionRecord } from './record.ts'

/** Versions of random ids are 4, so no application has this one. */
export const nobody = '00000000-0000-0000-0000-000000000000'

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
  const { authorizedBy = nobody, keyNumber: authorizedUnder } = authorization ?? {}
  const creator = await findWithKey(deps, tenantId, applicationId, keyNumber)
  const authorizer = await findWithKey(deps, tenantId, authorizedBy, authorizedUnder)
  if (creator === undefined) return undefined
  if (authorization === undefined) return { creator }
  return authorizer === undefined ? undefined : { creator, authorizer }
}
