/**
 * Erases from a vault that nobody serves what was deleted since it was as it is now: in one of a
 * backup those tokens are there again.
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

type Erasing = Pick<Deps, 'store' | 'keys'>

/** What became of the lines of a list. */
export interface Erased {
  readonly tokens: number
  /** Lines of tokens that are not there, or were made anew under their id. */
  readonly notThere: number
}

/** @returns the row of the token that the line is about, where it is there */
async function findErased({ store, keys }: Erasing, erasure: Erasure) {
  const { tenantId, id } = erasure
  const row = await store.find(tokenUnique(keys, tenantId, id))
  if (row === undefined) return undefined
  const { createdAtMs } = unsealToken(keys, tenantId, row).record
  return isOfErasure(erasure, { createdAtMs, row: row.ordinal }) ? row : undefined
}

/** @returns how many tokens were erased */
async function eraseSome(
  deps: Erasing,
  tenants: ReadonlySet<string>,
  some: readonly Erasure[],
): Promise<number> {
  const changes = new Map<number, Change>()
  for (const erasure of some) {
    // Keys of a tenant are derived, and kept, for whatever name one has.
    const row = tenants.has(erasure.tenantId) ? await findErased(deps, erasure) : undefined
    if (row !== undefined) changes.set(row.ordinal, { remove: row.ordinal, ifVersion: row.version })
  }
  if (changes.size === 0) return 0
  const { ok } = await deps.store.write([...changes.values()])
  invariant(ok, 'nobody else writes to a vault that is restored')
  return changes.size
}

/**
 * Cut off in between, some are erased: the vault is one that counts only after this.
 * @param onLine is told how many lines were looked at
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
