/**
 * A vault for trying things out: one tenant, and an application of each type.
 *
 * Its master key is never written: nobody can open its remains.
 * @module
 */
import { makeAuditLog } from '../../audit/audit-log.ts'
import { signingInStore } from '../../audit/signing-keys.ts'
import { composeApplication } from '../../applications/application-service.ts'
import type { CreateApplicationBody } from '../../applications/schema.ts'
import type { AnswerNotice, Deps, Reports } from '../../deps.ts'
import { mayHold, tokenPermissions } from '../../rules/permissions.ts'
import type { Secret } from '../../lib/secret.ts'
import { openLmdbStore, type LmdbOptions } from '../../store/lmdb/lmdb-store.ts'
import type { OperatedStore } from '../../store/operated.ts'
import type { AuditUpkeep } from '../../vault/upkeep.ts'
import { createVault, openVaultKeys } from '../../vault/vault.ts'
import { makeScheduler } from '../../lib/work.ts'
import type { Clock } from './clock.ts'
import { randomBytes } from './system.ts'

export interface DemoVault {
  readonly deps: Deps
  readonly tenantId: string
  readonly management: Secret
  /** Key of the application that may see data. */
  readonly private: Secret
  /** Key of the application that may only create and update. */
  readonly public: Secret
  /** Signs its audit log, with keys in its own store. */
  readonly auditUpkeep: Pick<AuditUpkeep, 'place' | 'figures'>
}

export interface DemoParts
  extends
    Pick<Deps, 'settings' | 'elapsedMs' | 'log'>,
    Pick<LmdbOptions, 'allocate' | 'freeBytes'> {
  readonly observe?: Deps['observe'] | undefined
  /** Makes the answers of `/status`. */
  readonly reportsOf?: ((deps: Deps, store: OperatedStore) => Reports) | undefined
  /** Like `Deps.explain`, and also gets the dependencies. */
  readonly explain?: ((deps: Deps, answered: AnswerNotice) => void) | undefined
  readonly clock: Clock
}

const privateApplication: CreateApplicationBody = {
  name: 'Demo backend',
  type: 'private',
  permissions: [...tokenPermissions],
  rules: [{ priority: 1, container: '/', transform: 'reveal', permissions: [...tokenPermissions] }],
}

const publicApplication: CreateApplicationBody = {
  name: 'Demo browser',
  type: 'public',
  permissions: tokenPermissions.filter(permission => mayHold('public', permission)),
}

async function addApplication(
  deps: Deps,
  tenantId: string,
  body: CreateApplicationBody,
): Promise<Secret> {
  const { key, row } = composeApplication(deps, tenantId, undefined, body)
  await deps.store.write([{ insert: row }])
  return key
}

/** @param path of a folder that is empty except for a lock */
export async function makeDemoVault(path: string, parts: DemoParts): Promise<DemoVault> {
  const { settings, elapsedMs, log, observe, explain, reportsOf, clock, ...files } = parts
  const { now, settled } = clock
  const masterKey = randomBytes(32)
  const store = await openLmdbStore({ path, ...files })
  const { tenantId, key } = await createVault({ store, now, randomBytes }, masterKey)
  const keys = await openVaultKeys(store, masterKey)
  masterKey.fill(0)
  const turns = makeScheduler(elapsedMs)
  const observed = observe === undefined ? {} : { observe }
  const times = { now, settled, elapsedMs, turns }
  const audit = makeAuditLog({ store, keys, randomBytes, now, log })
  const deps: Deps = { store, keys, ...times, randomBytes, log, audit, settings, ...observed }
  const explained = explain && { explain: (answered: AnswerNotice) => explain(deps, answered) }
  return {
    deps: { ...deps, ...explained, reports: reportsOf?.(deps, store) },
    tenantId,
    management: key,
    private: await addApplication(deps, tenantId, privateApplication),
    public: await addApplication(deps, tenantId, publicApplication),
    auditUpkeep: { place: signingInStore(store), figures: store.figures },
  }
}
