/**
 * Sealing rows anew: all that were sealed under an older key get parts under the current one.
 *
 * A row keeps its place, its header and its version, so that nothing moves for a reader who has
 * read it. From the commit on that made the current key no row lands under another one
 * (`fence.ts`): a walk that finds none left is the proof that none is left. Nothing of it is kept
 * but in the rows themselves: killed anywhere, it begins again and finds the rest.
 * Source: docs/decisions.md, "Keys".
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
import {
  sealRow,
  unsealEveryValue,
  type Collection,
  type RowSealer,
} from '../../records/seal-row.ts'
import type { Change, Row, Store } from '../../store/contract.ts'
import { listTenants } from '../../tenants/tenant-record.ts'
import { isKeyringRow } from './live-keyring.ts'

/** The number of the key that a row is sealed under. */
const keyOf = ({ parts: [head] }: Row): number => (head === undefined ? 0 : keyNumberOf(head))

/** Rows of a store in order, in steps between which others have their turn. */
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

/** How many rows are sealed under each key; the keyring itself is under none of them. */
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

const ofInstallation: readonly Collection[] = ['session', 'application', 'tenant']
const ofTenant: readonly Collection[] = ['token', 'code_key', 'idempotency']

/** Values of a row, with what has sealed them. */
interface Opened {
  readonly sealer: RowSealer
  readonly values: readonly Uint8Array[]
}

/**
 * Opens rows of any kind: a row does not say whose it is, and opens for one alone.
 * @returns `undefined` for one that is damaged
 */
function makeOpener(keys: Keys, tenantIds: readonly string[]): (row: Row) => Opened | undefined {
  const tenants = new Set(tenantIds)
  let latest: { readonly tenantId: string | undefined; readonly collection: Collection } | undefined
  // Made anew for each row: a rotation makes other scopes.
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
  /** In one commit; so few that others hardly wait where it is left out. */
  readonly batchRows?: number
  /** That of the platform where it is left out. */
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
  /** Sealed anew. */
  readonly rows: number
  /** Under an older key still, as they did not open. */
  readonly damaged: number
}

/** What of a batch did not land was moved meanwhile, and is looked at again by the next walk. */
async function resealBatch(
  deps: Resealing,
  open: (row: Row) => Opened | undefined,
  rows: readonly Row[],
): Promise<Resealed> {
  const { turns, elapsedMs, store, sleep = setTimeout } = deps
  // A turn of nobody's: credentials have ordinals above.
  await turns.next(0)
  const startMs = elapsedMs()
  const requestsBefore = turns.requests()
  const opened = rows.map(row => ({ row, value: open(row) }))
  const changes = opened.flatMap(({ row, value }) =>
    value === undefined ? [] : [resealed(deps, row, value)],
  )
  const outcomes = await Promise.all(changes.map(change => store.write([change])))
  const landed = outcomes.filter(({ ok }) => ok).length
  // Where others come, few of them are to meet a batch.
  if (turns.requests() !== requestsBefore) await sleep(resealRest * (elapsedMs() - startMs))
  return { rows: landed, damaged: rows.length - changes.length }
}

/**
 * Walks once over all rows.
 * @param onRows is told how many were looked at since it was told last
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
 * Seals anew what is under an older key, until a walk finds nothing more to do.
 * @param onRows is told how many rows were looked at since it was told last
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
