/**
 * Erases from a vault that nobody serves what was deleted since it was as it is now: in one of a
 * backup those tokens are there again.
 * @module
 */
import type { Deps } from '../deps.ts'
import { invariant } from '../errors.ts'
import { tenantsMax } from '../limits.ts'
import { erasureBatchLines } from '../operation-limits.ts'
import type { Done } from '../progress.ts'
import { isOfErasure, type Erasure } from '../rules/erasures.ts'
import type { Change, Row } from '../store/contract.ts'
import { listTenants } from '../tenants/record.ts'
import { findCode } from '../tokens/code.ts'
import { tokenUnique } from '../tokens/id.ts'
import { unsealToken } from '../tokens/record.ts'

type Erasing = Pick<Deps, 'store' | 'keys'>

/** What became of the lines of a list. */
export interface Erased {
  readonly tokens: number
  /** Lines of tokens that are not there, or were made anew under their id. */
  readonly notThere: number
}

/** @returns the rows of the token that the line is about, where it is there: its own comes first */
async function findErased(deps: Erasing, erasure: Erasure): Promise<readonly Row[]> {
  const { store, keys } = deps
  const { tenantId, id } = erasure
  const row = await store.find(tokenUnique(keys, tenantId, id))
  if (row === undefined) return []
  const { record } = unsealToken(keys, tenantId, row)
  const { createdAtMs } = record
  if (!isOfErasure(erasure, { createdAtMs, row: row.ordinal })) return []
  const code = await findCode(deps, tenantId, record)
  return code === undefined ? [row] : [row, code]
}

/** @returns how many tokens were erased */
async function eraseSome(
  deps: Erasing,
  tenants: ReadonlySet<string>,
  some: readonly Erasure[],
): Promise<number> {
  const changes = new Map<number, Change>()
  const tokens = new Set<number>()
  for (const erasure of some) {
    // Keys of a tenant are derived, and kept, for whatever name one has.
    const rows = tenants.has(erasure.tenantId) ? await findErased(deps, erasure) : []
    for (const { ordinal, version } of rows) {
      changes.set(ordinal, { remove: ordinal, ifVersion: version })
    }
    if (rows[0] !== undefined) tokens.add(rows[0].ordinal)
  }
  if (changes.size === 0) return 0
  const { ok } = await deps.store.write([...changes.values()])
  invariant(ok, 'nobody else writes to a vault that is restored')
  return tokens.size
}

/**
 * Cut off in between, some are erased: the vault is one that counts only after this.
 * @param onLine is told how many lines were looked at
 * @throws ApiError as the store
 */
export async function eraseListed(
  deps: Erasing,
  list: AsyncIterable<Erasure>,
  onLine: Done,
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
