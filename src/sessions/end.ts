/**
 * Ending a session before its time. Source: contract section 12.
 *
 * A manager ends any session of its tenant, a private application those that it authorized; to it
 * any other one is as absent.
 * @module
 */
import type { Caller } from '../rules/caller.ts'
import { ApiError } from '../errors.ts'
import { untilWritten, writeAs } from '../records/write.ts'
import type { SessionDeps } from './deps.ts'
import { isUsable, openSession, sessionUnique, type SessionRecord } from './record.ts'
import { findBacking } from './standing.ts'

const absent = () => new ApiError('not_found', 'There is no such session.')

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
    if (row === undefined) throw absent()
    const { record } = openSession(keys, row)
    const stands = isUsable(record, now()) && (await findBacking(deps, record)) !== undefined
    if (!stands || !mayEnd(caller, record)) throw absent()
    const remove = { remove: row.ordinal, ifVersion: row.version }
    const landed = await writeAs(store, caller, [remove, { bumpGeneration: true }])
    return landed ? { result: undefined } : undefined
  })
}
