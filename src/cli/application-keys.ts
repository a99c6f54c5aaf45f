/**
 * `coffer app key list | add | revoke`: the keys of one application, of which several may be live.
 * @module
 */
import type { Command } from 'commander'
import { sayJson, sayNow } from '../server/process/system.ts'
import type { Facts } from '../vault/operator/operator-operation.ts'
import { keyFileOption, withKeyFile } from './key-file.ts'
import { operate } from './operate.ts'
import { printTable, tableOf } from './table.ts'
import { inTenant, takesTenant, type TenantOptions } from './tenant-options.ts'

interface AddKeyOptions extends TenantOptions {
  /** An instant, as the interface takes it. */
  readonly expiresAt?: string
  readonly keyFile?: string
}

async function listKeys(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-key-list', inTenant(options, { id }))
  if (options.json === true) return sayJson(facts)
  const keys = facts['keys'] as readonly Facts[]
  printTable(tableOf(keys, ['id', 'version', 'created_at', 'expires_at', 'last_used_on']))
}

/** The key is told only once it is on disk: what is told works. */
async function addKey(id: string, options: AddKeyOptions): Promise<void> {
  const { expiresAt } = options
  const ends = expiresAt === undefined ? {} : { expires_at: expiresAt }
  await withKeyFile(options.keyFile, async keyFile => {
    const facts = await operate(options, 'app-key-add', inTenant(options, { id, ...ends }))
    const { key, ...known } = facts
    keyFile?.write(String(key))
    const place = keyFile === undefined ? { key } : { key_file: keyFile.path }
    if (options.json === true) return sayJson({ ...known, ...place })
    sayNow(`Key ${String(known['id'])} of the application; its others stay.`)
    sayNow(keyFile === undefined ? `It is shown once: ${String(key)}` : `It is in ${keyFile.path}`)
  })
}

async function revokeKey(id: string, key: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-key-revoke', inTenant(options, { id, key }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The key is revoked, its sessions too.')
}

export function addApplicationKeys(app: Command): void {
  const key = app.command('key').description('the keys of one application')
  takesTenant(key.command('list <application>'))
    .description('its live keys, newest first')
    .action((id: string, options: TenantOptions) => listKeys(id, options))
  takesTenant(key.command('add <application>'))
    .description('give it one more key, print it once, and leave the others')
    .option('--expires-at <moment>', 'from when on it is refused, such as 2030-01-31T12:00:00Z')
    .addOption(keyFileOption())
    .action((id: string, options: AddKeyOptions) => addKey(id, options))
  takesTenant(key.command('revoke <application> <key-id>'))
    .description('end one key by its id, at once, with its sessions')
    .action((id: string, ended: string, options: TenantOptions) => revokeKey(id, ended, options))
}
