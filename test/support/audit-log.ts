/**
 * The audit log of a vault under test. Its randomness is its own, so that the ids of a seeded vault
 * do not depend on when entries are written.
 * @module
 */
import { makeAuditLog, type AuditLog, type AuditLogParts } from '../../src/audit/audit-log.ts'
import { makeCheckpoints } from '../../src/audit/checkpoints.ts'
import { openBundle, type LoggedEntry } from '../../src/audit/bundle.ts'
import type { Deps } from '../../src/deps.ts'
import { randomBytes } from '../../src/server/process/system.ts'

/** More than any test writes. */
const bundlesMax = 100_000

export const auditLogOf = (parts: Omit<AuditLogParts, 'randomBytes'>): AuditLog =>
  makeAuditLog({ ...parts, randomBytes })

/** All entries of a vault, once what waits is written. */
export async function entriesOf({ deps }: { readonly deps: Deps }): Promise<LoggedEntry[]> {
  await deps.audit.flush()
  const bundles = await deps.store.bundles({ from: 0 }, bundlesMax)
  return bundles.flatMap(bundle => openBundle(deps.keys, bundle))
}

/** Signs the log. @returns the sequence of an entry of the tenant that is signed */
export async function signLog(vault: Readonly<{ deps: Deps; tenantId: string }>): Promise<number> {
  const entries = await entriesOf(vault)
  let kept: Uint8Array | undefined
  const place = { read: () => kept, write: (bytes: Uint8Array) => void (kept = bytes) }
  const checkpoints = makeCheckpoints({ ...vault.deps, place })
  while ((await checkpoints.next()) !== undefined) await vault.deps.audit.flush()
  const own = entries.findLast(({ entry }) => entry.tenantId === vault.tenantId)
  return own?.sequence ?? -1
}
