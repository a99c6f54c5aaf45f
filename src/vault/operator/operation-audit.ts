/**
 * Entries of an operator's operations in the audit log: one for each, with its write if it has one.
 * @module
 */
import type { ActorType, AuditEntry } from '../../audit/entry.ts'
import type { Deps } from '../../deps.ts'
import { ApiError } from '../../lib/errors.ts'
import type { WriteAudit } from '../../records/write-rows.ts'
import type { AdminOperation, Authority, Operations } from './operator-operation.ts'

/** As an answer over HTTP would have them. */
const done = 200
const failed = 500

type Audited = Pick<Deps, 'audit' | 'now'>

async function actorOf({ who }: Authority): Promise<Partial<AuditEntry>> {
  if (who === 'operator') return { actorType: 'operator' satisfies ActorType }
  const { tenantId, applicationId, type, keyId } = await who()
  return { tenantId, actorId: applicationId, actorType: type, keyId }
}

function auditedOperation(
  { audit, now }: Audited,
  name: string,
  { needs, run }: AdminOperation,
): AdminOperation {
  // Facts that anybody may ask for who can reach the socket.
  if (needs === 'nothing') return { needs, run }
  return {
    needs,
    async run(input, tell, by) {
      const actor = await actorOf(by)
      let isEntered = false
      const entryOf = (ended: Pick<AuditEntry, 'result' | 'reason' | 'entityIds'>): AuditEntry => ({
        atMs: now(),
        ...actor,
        operation: name,
        ...ended,
      })
      const write: WriteAudit = {
        changeOf: ids => audit.changeOf(entryOf({ result: done, entityIds: ids })),
        landed() {
          isEntered = true
        },
      }
      try {
        const told = await run(input, tell, { ...by, audit: write })
        if (!isEntered) audit.note(entryOf({ result: done, entityIds: [] }))
        return told
      } catch (error) {
        const reason = error instanceof ApiError ? error.kind : 'internal'
        if (!isEntered) audit.note(entryOf({ result: failed, reason, entityIds: [] }))
        throw error
      }
    },
  }
}

/** The same operations, each of which enters that it ran. */
export const audited = (deps: Audited, operations: Operations): Operations =>
  Object.fromEntries(
    Object.entries(operations).map(([name, each]) => [name, auditedOperation(deps, name, each)]),
  )
