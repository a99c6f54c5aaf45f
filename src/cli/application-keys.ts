/**
 * `coffer app key list | add | revoke`: the keys of one application, of which several may be live.
 * @module
 */
import { sayJson, sayNow } from '../server/process/system.ts'
import type { Facts } from '../vault/operator/operator-operation.ts'
import type { TenantOptions } from './applications.ts'
import { withKeyFile } from './key-file.ts'
import { operate } from './operate.ts'
import { printTable, tableOf } from './table.ts'

export interface AddKeyOptions extends TenantOptions {
  /** An instant, as the interface takes it. */
  readonly expiresAt?: string
  readonly keyFile?: string
}

const inputOf = ({ tenant }: TenantOptions, more: Facts): Facts =>
  tenant === undefined ? more : { ...more, tenant }

export async function listKeysOf(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-key-list', inputOf(options, { id }))
  if (options.json === true) return sayJson(facts)
  const keys = facts['keys'] as readonly Facts[]
  printTable(tableOf(keys, ['id', 'version', 'created_at', 'expires_at', 'last_used_on']))
}

/** The key is told only once it is on disk: what is told works. */
export async function addKeyTo(id: string, options: AddKeyOptions): Promise<void> {
  const { expiresAt } = options
  const ends = expiresAt === undefined ? {} : { expires_at: expiresAt }
  await withKeyFile(options.keyFile, async keyFile => {
    const facts = await operate(options, 'app-key-add', inputOf(options, { id, ...ends }))
    const { key, ...known } = facts
    keyFile?.write(String(key))
    const place = keyFile === undefined ? { key } : { key_file: keyFile.path }
    if (options.json === true) return sayJson({ ...known, ...place })
    sayNow(`Key ${String(known['id'])} of the application; its others stay.`)
    sayNow(keyFile === undefined ? `It is shown once: ${String(key)}` : `It is in ${keyFile.path}`)
  })
}

export async function revokeKeyOf(id: string, key: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-key-revoke', inputOf(options, { id, key }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The key is revoked, its sessions too.')
}
