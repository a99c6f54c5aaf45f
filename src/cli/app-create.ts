/**
 * `coffer app create`: a new management application, for who has lost the key of every other one.
 *
 * Whoever has folder and master key may do this; the interface refuses to let the last manager go,
 * but cannot keep its key from being lost. Source: contract section 13.
 * @module
 */
import { invariant } from '../errors.ts'
import { nameCharsMax, tenantsMax } from '../limits.ts'
import type { Keys } from '../crypto/keyring.ts'
import { listTenants } from '../tenants/record.ts'
import type { Store } from '../store/contract.ts'
import { composeManager } from '../vault.ts'
import { openDataFolder, type FolderOptions } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { endAfterFailure, randomBytes, sayNow, wallMs } from '../serve/system.ts'

export interface AppCreateOptions extends FolderOptions {
  readonly name: string
  /** May be left out where there is one tenant alone. */
  readonly tenant?: string
  readonly json?: boolean
}

async function tenantOf(store: Store, keys: Keys, asked: string | undefined): Promise<string> {
  const ids = (await listTenants(store, keys, tenantsMax)).map(({ id }) => id)
  const [only] = asked === undefined ? ids : ids.filter(id => id === asked)
  if (only === undefined) throw new CommandFailure('there is no such tenant: see what init printed')
  if (asked !== undefined || ids.length === 1) return only
  throw new CommandFailure('there are several tenants: choose one with --tenant')
}

/** The key is printed only once its application is on disk: what is printed works. */
export async function createApp(options: AppCreateOptions): Promise<void> {
  const name = options.name.trim()
  if (name === '' || name.length > nameCharsMax) {
    throw new CommandFailure(`--name: expected 1 to ${nameCharsMax} characters`, 2)
  }
  const { store, keys } = await openDataFolder(options, { onFailure: endAfterFailure })
  try {
    const tenantId = await tenantOf(store, keys, options.tenant)
    const deps = { keys, now: wallMs, randomBytes }
    const { record, key, row } = composeManager(deps, tenantId, name)
    const outcome = await store.write([{ insert: row }])
    invariant(outcome.ok, 'a new application has an id and a key of its own')
    const facts = { tenant_id: tenantId, application_id: record.id, key: key.reveal() }
    if (options.json === true) return sayNow(JSON.stringify(facts))
    sayNow(`Management application: ${record.id}\nIts key, shown once:    ${key.reveal()}`)
  } finally {
    await store.close()
  }
}
