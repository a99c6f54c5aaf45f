/**
 * Reseals every row that is sealed under an older key with the current one.
 *
 * A row keeps its place, header and version, so readers who have read it notice nothing. After the
 * commit that made the current key, no row lands under another one (`fence.ts`): a walk that finds
 * none proves that none is left. All progress is in the rows themselves: if it is killed anywhere,
 * it starts again and finds the rest. Source: docs/decisions.md, "Keys".
 * @module
 */
import { setImmediate, setTimeout } from 'node:timers/promises'
import { unsealApplication } from '../../applications/application-record.ts'
import type { Keys } from '../../crypto/keyring.ts'
import { keyNumberOf } from '../../crypto/seal.ts'
import type { Deps } from '../../deps.ts'
import { attempt } from '../../lib/errors.ts'
import {
  tenantsMax,
  resealBatchRows,
  resealRest,
  resealScanRows,
} from '../../limits/operation-limits.ts'
import { ownOrdinal } from '../../limits/work-limits.ts'
import {
  sealRow,
  unsealEveryValue,
  type Collection,
  type RowSealer,
} from '../../records/seal-row.ts'
import type { Change, Row, Store } from '../../store/contract.ts'
import { listTenants } from '../../tenants/tenant-record.ts'
import { isKeyringRow } from './live-keyring.ts'

/** Returns the number of the key that a row is sealed under. */
const keyOf = ({ parts: [head] }: Row): number => (head === undefined ? 0 : keyNumberOf(head))

/** Reads the rows of a store in order, in steps between which others have their turn. */
export async function* stepsOf(store: Pick<Store, 'rowsFrom'>): AsyncGenerator<readonly Row[]> {
  for (let from = 0; ;) {
    const rows = await store.rowsFrom(from, resealScanRows)
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
    from = last.ordinal + 1
    await setImmediate()
  }
}

/** Counts the rows under each key; the keyring itself is under none of them. */
export async function countByKey(
  store: Pick<Store, 'rowsFrom'>,
): Promise<ReadonlyMap<number, number>> {
  const counts = new Map<number, number>()
  for await (const rows of stepsOf(store)) {
    for (const row of rows) {
      if (isKeyringRow(row)) continue
      const number = keyOf(row)
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
  }
  return counts
}

const ofInstallation: readonly Collection[] = ['session', 'application', 'webhook', 'tenant']
const ofTenant: readonly Collection[] = ['token', 'code_key', 'idempotency']

/** Values of a row, with the sealer that sealed them. */
interface Opened {
  readonly sealer: RowSealer
  readonly values: readonly Uint8Array[]
}

/**
 * Opens rows of any kind: a row does not say what it is, and opens as one kind and tenant only.
 * @returns `undefined` for a damaged row
 */
function makeOpener(keys: Keys, tenantIds: readonly string[]): (row: Row) => Opened | undefined {
  const tenants = new Set(tenantIds)
  let latest: { readonly tenantId: string | undefined; readonly collection: Collection } | undefined
  // Made for each row, because a rotation replaces the scopes.
  const sealerOf = ({ tenantId, collection }: NonNullable<typeof latest>): RowSealer => ({
    scope: tenantId === undefined ? keys.installation : keys.tenant(tenantId),
    collection,
  })
  function* kinds(): Generator<NonNullable<typeof latest>> {
    if (latest !== undefined) yield latest
    for (const collection of ofInstallation) yield { tenantId: undefined, collection }
    for (const tenantId of tenants) {
      for (const collection of ofTenant) yield { tenantId, collection }
    }
  }
  return row => {
    for (const kind of kinds()) {
      const sealer = sealerOf(kind)
      const values = attempt(() => unsealEveryValue(sealer, row))
      if (values === undefined) continue
      latest = kind
      if (kind.collection === 'application') {
        tenants.add(unsealApplication(keys, row).record.tenantId)
      }
      return { sealer, values }
    }
    return undefined
  }
}

interface Resealing extends Pick<Deps, 'store' | 'keys' | 'randomBytes' | 'turns' | 'elapsedMs'> {
  /** Rows in one commit; by default so few that others hardly wait. */
  readonly batchRows?: number
  /** The timer of the platform by default. */
  readonly sleep?: (ms: number) => Promise<void>
}

function resealed({ randomBytes }: Resealing, row: Row, { sealer, values }: Opened): Change {
  const { uniques, terms, deadlineMs, version, ordinal } = row
  const header = { uniques, terms, ...(deadlineMs === undefined ? {} : { deadlineMs }) }
  const reseal = sealRow(sealer, randomBytes, header, version, values)
  for (const value of values) value.fill(0)
  return { reseal, ordinal }
}

export interface Resealed {
  /** Number of rows resealed. */
  readonly rows: number
  /** Number of rows that did not open and are still under an older key. */
  readonly damaged: number
}

/** A row of the batch that did not land has moved meanwhile; the next walk looks at it again. */
async function resealBatch(
  deps: Resealing,
  open: (row: Row) => Opened | undefined,
  rows: readonly Row[],
): Promise<Resealed> {
  const { turns, elapsedMs, store, sleep = setTimeout } = deps
  await turns.next(ownOrdinal)
  const startMs = elapsedMs()
  const requestsBefore = turns.requests()
  const opened = rows.map(row => ({ row, value: open(row) }))
  const changes = opened.flatMap(({ row, value }) =>
    value === undefined ? [] : [resealed(deps, row, value)],
  )
  const outcomes = await Promise.all(changes.map(change => store.write([change])))
  const landed = outcomes.filter(({ ok }) => ok).length
  // While requests come in, only few of them should meet a batch.
  if (turns.requests() !== requestsBefore) await sleep(resealRest * (elapsedMs() - startMs))
  return { rows: landed, damaged: rows.length - changes.length }
}

/**
 * Walks once over all rows.
 * @param onRows called with the number of rows looked at since the last call
 */
async function walkOnce(deps: Resealing, onRows: (count: number) => void): Promise<Resealed> {
  const { store, keys, batchRows = resealBatchRows } = deps
  const tenants = await listTenants(store, keys, tenantsMax)
  const open = makeOpener(
    keys,
    tenants.map(({ id }) => id),
  )
  const sum = { rows: 0, damaged: 0 }
  for await (const rows of stepsOf(store)) {
    const older = rows.filter(
      row => !isKeyringRow(row) && keyOf(row) !== keys.installation.currentKeyNumber,
    )
    for (let from = 0; from < older.length; from += batchRows) {
      const batch = await resealBatch(deps, open, older.slice(from, from + batchRows))
      sum.rows += batch.rows
      sum.damaged += batch.damaged
    }
    onRows(rows.length)
  }
  return sum
}

/**
 * Reseals the rows under older keys, until a walk finds nothing more to do.
 * @param onRows called with the number of rows looked at since the last call
 * @throws ApiError `storage_full`, or as the store
 */
export async function resealAll(
  deps: Resealing,
  onRows: (count: number) => void = () => {},
): Promise<Resealed> {
  let rows = 0
  for (;;) {
    const walk = await walkOnce(deps, onRows)
    rows += walk.rows
    if (walk.rows === 0) return { rows, damaged: walk.damaged }
  }
}
