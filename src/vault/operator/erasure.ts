/**
 * Repeats erasures in a vault that is restored from a backup and not served: tokens that were
 * deleted after the backup are in it again.
 * @module
 */
import type { Deps } from '../../deps.ts'
import { invariant } from '../../lib/errors.ts'
import { tenantsMax, erasureBatchLines } from '../../limits/operation-limits.ts'
import type { ReportDone } from '../../lib/progress.ts'
import { isOfErasure, type Erasure } from '../../rules/erasures.ts'
import type { Change } from '../../store/contract.ts'
import { listTenants } from '../../tenants/tenant-record.ts'
import { tokenUnique } from '../../tokens/token-id.ts'
import { unsealToken } from '../../tokens/token-record.ts'
import { removalOf } from '../../records/read-row.ts'

type Erasing = Pick<Deps, 'store' | 'keys'>

/** Result of erasing the lines of a list. */
export interface Erased {
  readonly tokens: number
  /** Lines whose token is not there, or was made anew under its id. */
  readonly notThere: number
}

/** @returns the row of the token that the line names, if it is there */
async function findErased({ store, keys }: Erasing, erasure: Erasure) {
  const { tenantId, id } = erasure
  const row = await store.find(tokenUnique(keys, tenantId, id))
  if (row === undefined) return undefined
  const { createdAtMs } = unsealToken(keys, tenantId, row).record
  return isOfErasure(erasure, { createdAtMs, row: row.ordinal }) ? row : undefined
}

/** @returns the number of tokens erased */
async function eraseSome(
  deps: Erasing,
  tenants: ReadonlySet<string>,
  some: readonly Erasure[],
): Promise<number> {
  const changes = new Map<number, Change>()
  for (const erasure of some) {
    // Keys are derived and kept for any name of a tenant, so only existing tenants are looked up.
    const row = tenants.has(erasure.tenantId) ? await findErased(deps, erasure) : undefined
    if (row !== undefined) changes.set(row.ordinal, removalOf(row))
  }
  if (changes.size === 0) return 0
  const { ok } = await deps.store.write([...changes.values()])
  invariant(ok, 'nobody else writes to a vault that is restored')
  return changes.size
}

/**
 * If cut off, only some are erased: the restored vault counts only after this.
 * @param onLine called with the number of lines looked at
 * @throws ApiError as the store
 */
export async function eraseListed(
  deps: Erasing,
  list: AsyncIterable<Erasure>,
  onLine: ReportDone,
): Promise<Erased> {
  const found = await listTenants(deps.store, deps.keys, tenantsMax)
  const tenants = new Set(found.map(({ id }) => id))
  let batch: Erasure[] = []
  let [lines, tokens] = [0, 0]
  const land = async (): Promise<void> => {
    tokens += await eraseSome(deps, tenants, batch)
    lines += batch.length
    batch = []
    onLine(lines)
  }
  for await (const erasure of list) {
    batch.push(erasure)
    if (batch.length === erasureBatchLines) await land()
  }
  await land()
  return { tokens, notThere: lines - tokens }
}
