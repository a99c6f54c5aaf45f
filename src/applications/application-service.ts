/**
 * Operations on applications: each reads, decides and writes once.
 *
 * Source: spec, "Applications"; contract sections 11 and 13.
 * @module
 */
import { uuidOf } from '../lib/bytes.ts'
import type { Deps } from '../deps.ts'
import { holdsAnywhere } from '../rules/access.ts'
import type { Caller } from '../rules/caller.ts'
import { parseFutureInstant, printInstantUtc } from '../rules/instants.ts'
import {
  mayHold,
  permissions,
  type ApplicationType,
  type Permission,
} from '../rules/permissions.ts'
import { ApiError, invalid, invariant } from '../lib/errors.ts'
import { reserveRows, type Budgeted } from '../records/budgeted.ts'
import { isExpired } from '../records/expiry.ts'
import { paceOf } from '../records/pace.ts'
import { inRowTurn } from '../records/row-turns.ts'
import { removalOf, unchanged } from '../records/read-row.ts'
import { untilWritten, writeAs } from '../records/write-rows.ts'
import type { Secret } from '../lib/secret.ts'
import type { Change, NewRow, Query, Row } from '../store/contract.ts'
import { checkGrants } from './application-grants.ts'
import { heldKeys, keyIdOf, newKey, type HeldKey, type KeyRecord } from './api-keys.ts'
import type { CreateApplicationBody } from './schema.ts'
import {
  applicationUnique,
  keyDigest,
  unsealApplication,
  sealApplication,
  tenantTerm,
  typeTerm,
  type ApplicationRecord,
  type StoredApplication,
} from './application-record.ts'

type KeyDraft = Omit<KeyRecord, 'createdBy'> & { readonly createdBy: string | undefined }

/** An application and its key, whose plaintext exists only here. */
export interface NewApplication {
  readonly record: ApplicationRecord
  readonly key: Secret
}

/**
 * A management application passes on no power that it lacks: neither by granting it nor by taking
 * over the key of a stronger application (hardening T22, H139, H140).
 */
export function assertMayGrant(
  caller: Caller,
  type: ApplicationType,
  granted: readonly Permission[],
): void {
  if (type !== 'management') return
  if (granted.every(permission => caller.grants.permissions.includes(permission))) return
  throw new ApiError('forbidden', 'expected only permissions that the caller holds itself')
}

/**
 * A caller who may only change applications may not take over a key that can see data, nor widen
 * grants: either is as powerful as making such a key (contract section 11).
 */
export function assertMayArm({ grants }: Caller, type: ApplicationType): void {
  if (type === 'management' || holdsAnywhere(grants, 'application:create')) return
  throw new ApiError(
    'forbidden',
    'expected a credential with application:create too, for a new key or wider grants of an ' +
      'application that may hold token permissions',
  )
}

type KeyEnd = Pick<KeyRecord, 'expiresAt'>

/**
 * Returns the end of a new key: at the latest when the caller's own key ends, so that a temporary
 * key makes no lasting one (contract section 13).
 * @param expiry as it was sent
 * @throws ApiError `invalid_request` for an expiry that is malformed, past, or later than that
 */
export function endOfNewKey(
  { expiresAtMs: latestMs }: Caller,
  expiry: string | undefined,
  nowMs: number,
): KeyEnd {
  const asked = expiry === undefined ? undefined : parseFutureInstant(expiry, 'expires_at', nowMs)
  if (latestMs === undefined) return asked === undefined ? {} : { expiresAt: asked }
  if (asked === undefined) {
    return { expiresAt: { text: printInstantUtc(latestMs), epochMs: latestMs } }
  }
  if (asked.epochMs <= latestMs) return { expiresAt: asked }
  throw invalid('expires_at', 'expected an end no later than that of the key that makes this one')
}

const absent = () => new ApiError('not_found', 'There is no such application.')

/** Returns a new key with its entry in the application's record. */
export const heldKey = (
  { keys }: Pick<Deps, 'keys'>,
  key: Secret,
  { createdBy, ...rest }: KeyDraft,
): HeldKey => ({
  key: { ...rest, ...(createdBy === undefined ? {} : { createdBy }) },
  digest: keyDigest(keys, key.reveal()),
})

/**
 * Returns a new application and its row, not yet written. `createdBy` is absent for the first one.
 * @param keyEnd end of its first key, if that is before the application's
 */
export function composeApplication(
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'now'>,
  tenantId: string,
  createdBy: string | undefined,
  body: CreateApplicationBody,
  keyEnd: KeyEnd = {},
): NewApplication & { readonly row: NewRow } {
  const nowMs = deps.now()
  const expiresAt =
    typeof body.expires_at === 'string'
      ? { expiresAt: parseFutureInstant(body.expires_at, 'expires_at', nowMs) }
      : {}
  const id = uuidOf(deps.randomBytes(16))
  const key = newKey(deps)
  const made = heldKey(deps, key, { number: 0, createdBy, createdAtMs: nowMs, ...keyEnd })
  const record: ApplicationRecord = {
    id,
    tenantId,
    name: body.name,
    type: body.type,
    ...checkGrants(body.type, body),
    keys: [made.key],
    ...(createdBy === undefined ? {} : { createdBy }),
    createdAtMs: nowMs,
    ...expiresAt,
  }
  return { record, key, row: sealApplication(deps, record, [made], 1) }
}

/** Returns a management application with all permissions and its row, not yet written. */
export const composeManager = (
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'now'>,
  tenantId: string,
  createdBy: string | undefined,
  name: string,
): NewApplication & { readonly row: NewRow } =>
  composeApplication(deps, tenantId, createdBy, {
    name,
    type: 'management',
    permissions: permissions.filter(permission => mayHold('management', permission)),
  })

/**
 * If the caller's key expires, so does the first key of the new application, but not the
 * application: a manager may give it another key in time.
 * @throws ApiError `invalid_request` when the grants or the expiry are not valid, `forbidden`
 */
export async function createApplication(
  deps: Deps,
  caller: Caller,
  body: CreateApplicationBody,
): Promise<NewApplication> {
  const end = endOfNewKey(caller, body.expires_at ?? undefined, deps.now())
  const keyEnd = body.expires_at == null ? end : {}
  const made = composeApplication(deps, caller.tenantId, caller.applicationId, body, keyEnd)
  assertMayGrant(caller, body.type, made.record.permissions)
  const landed = await writeAs(deps.store, caller, [{ insert: made.row }], {
    ids: () => [made.record.id],
  })
  invariant(landed, 'no two applications draw the same id or key')
  return made
}

export async function findApplication(
  deps: Deps,
  tenantId: string,
  id: string,
): Promise<StoredApplication> {
  const row = await deps.store.find(applicationUnique(deps.keys, tenantId, id))
  if (row === undefined || isExpired(row, deps.now())) throw absent()
  return unsealApplication(deps.keys, row)
}

/** @throws ApiError `not_found`, also for one of another tenant */
export const getApplication = async (
  deps: Deps,
  caller: Caller,
  id: string,
): Promise<ApplicationRecord> => (await findApplication(deps, caller.tenantId, id)).record

export interface ApplicationQuery {
  readonly ids: readonly string[]
  readonly types: readonly string[]
  readonly offset: number
  readonly limit: number
}

const anyOf = (queries: readonly Query[]): Query[] =>
  queries.length === 0 ? [] : [{ any: queries }]

/**
 * Newest first; `total` counts every match. An application may have 100 long rules: so they are
 * read, and opened one after the other, in turns.
 * @param show  called with each
 */
export async function listApplications<T>(
  deps: Deps,
  caller: Caller & Budgeted,
  filter: ApplicationQuery,
  show: (record: ApplicationRecord) => T,
): Promise<{ readonly total: number; readonly items: readonly T[] }> {
  const { keys } = deps
  const { tenantId } = caller
  const query: Query = {
    all: [
      { term: tenantTerm(keys, tenantId) },
      ...anyOf(filter.ids.map(id => ({ unique: applicationUnique(keys, tenantId, id) }))),
      ...anyOf(filter.types.map(type => ({ term: typeTerm(keys, tenantId, type) }))),
    ],
  }
  const window = { offset: filter.offset, limit: filter.limit, nowMs: deps.now() }
  const pause = paceOf(deps, caller)
  await pause()
  const { rows, total } = await deps.store.page(query, window)
  reserveRows(caller, rows)
  const items: T[] = []
  for (const row of rows) {
    await pause()
    items.push(show(unsealApplication(keys, row).record))
  }
  return { total, items }
}

export const canCreateApplications = (record: ApplicationRecord): boolean =>
  record.type === 'management' && record.permissions.includes('application:create')

/** Returns true if some key never expires. */
export const hasLastingKey = (held: readonly HeldKey[]): boolean =>
  held.some(({ key }) => key.expiresAt === undefined)

/** True for a manager whose row and at least one key never expire. */
const staysManager = ({ row, record }: StoredApplication): boolean =>
  canCreateApplications(record) &&
  record.expiresAt === undefined &&
  hasLastingKey(heldKeys(row, record))

/**
 * Returns a precondition: another application that can create applications exists when the write
 * lands. Otherwise nobody could get back in (contract section 13). A tenant may have many managers
 * that cannot, and all of them are opened: so they are read, and opened, in turns.
 */
export async function anotherManagerStands(
  deps: Deps,
  caller: Caller,
  { row: { ordinal }, record: { tenantId } }: StoredApplication,
): Promise<Change[]> {
  const query = { term: typeTerm(deps.keys, tenantId, 'management') }
  const window = { offset: 0, limit: 100, nowMs: deps.now(), uncounted: true } as const
  const pause = paceOf(deps, caller)
  const isOther = (row: Row): boolean =>
    row.ordinal !== ordinal && staysManager(unsealApplication(deps.keys, row))
  for (let before: number | undefined; ;) {
    await pause()
    const { rows } = await deps.store.page(
      query,
      before === undefined ? window : { ...window, before },
    )
    for (const row of rows) {
      await pause()
      if (isOther(row)) return [unchanged(row)]
    }
    before = rows.at(-1)?.ordinal
    if (before === undefined) break
  }
  throw new ApiError(
    'conflict',
    'This is the last management application that can create applications: create another first.',
  )
}

/** Decision about an application; `madeKeyId` names a key that is made. */
interface Decided<T> {
  readonly changes: readonly Change[]
  readonly result: T
  readonly madeKeyId?: string
}

/** Writes the changes that `decide` returns, and ends every cached credential. */
export const changeApplication = <T>(
  deps: Deps,
  caller: Caller,
  id: string,
  decide: (stored: StoredApplication) => Promise<Decided<T>>,
): Promise<T> =>
  inRowTurn(applicationUnique(deps.keys, caller.tenantId, id), caller, () =>
    untilWritten(async () => {
      const stored = await findApplication(deps, caller.tenantId, id)
      const { changes, result, madeKeyId } = await decide(stored)
      const all = [...changes, { bumpGeneration: true } as const]
      const ids = () => (madeKeyId === undefined ? [] : [stored.record.id, madeKeyId])
      return (await writeAs(deps.store, caller, all, { ids })) ? { result } : undefined
    }),
  )

export const modified = (deps: Deps, caller: Caller) => ({
  modifiedBy: caller.applicationId,
  modifiedAtMs: deps.now(),
})

/** Writes the record of an application anew, with these keys. */
export const replacement = (
  deps: Pick<Deps, 'keys' | 'randomBytes' | 'now'>,
  { row }: StoredApplication,
  record: ApplicationRecord,
  held: readonly HeldKey[],
): Change => ({
  replace: sealApplication(deps, record, held, row.version + 1),
  ordinal: row.ordinal,
  ifVersion: row.version,
})

/**
 * Every other key of the application is refused from the moment this resolves.
 * @throws ApiError `not_found`, `forbidden`; `conflict` if the new key would expire, and nobody
 *   else could create applications after that
 */
export const regenerateKey = (deps: Deps, caller: Caller, id: string): Promise<NewApplication> =>
  changeApplication(deps, caller, id, async stored => {
    assertMayGrant(caller, stored.record.type, stored.record.permissions)
    assertMayArm(caller, stored.record.type)
    const key = newKey(deps)
    const number = (stored.record.keyNumber ?? 0) + 1
    const record = { ...stored.record, keyNumber: number, ...modified(deps, caller) }
    const nowMs = deps.now()
    const end = endOfNewKey(caller, undefined, nowMs)
    const made = { number, createdBy: caller.applicationId, createdAtMs: nowMs, ...end }
    const held = heldKey(deps, key, made)
    const locksOut = canCreateApplications(stored.record) && !hasLastingKey([held])
    const guard = locksOut ? await anotherManagerStands(deps, caller, stored) : []
    const change = replacement(deps, stored, record, [held])
    const madeKeyId = keyIdOf(deps.keys, record, held.key)
    return { changes: [...guard, change], result: { record, key }, madeKeyId }
  })

export const deleteApplication = (deps: Deps, caller: Caller, id: string): Promise<void> =>
  changeApplication(deps, caller, id, async stored => {
    const guard = canCreateApplications(stored.record)
      ? await anotherManagerStands(deps, caller, stored)
      : []
    return { changes: [...guard, removalOf(stored.row)], result: undefined }
  })
