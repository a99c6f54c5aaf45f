/**
 * `coffer app list | regenerate | delete` and `coffer session list | end`.
 * @module
 */
import type { Facts } from '../vault/operator/operator-operation.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { operate } from './operate.ts'
import { printTable, tableOf } from './table.ts'

export interface TenantOptions extends FolderOptions {
  /** May be left out where there is one tenant alone. */
  readonly tenant?: string
  readonly json?: boolean
}

const inputOf = ({ tenant }: TenantOptions, more: Facts = {}): Facts =>
  tenant === undefined ? more : { ...more, tenant }

export async function listApps(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-list', inputOf(options))
  if (options.json === true) return sayJson(facts)
  const items = facts['applications'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'type', 'name', 'created_at', 'expires_at']))
}

export async function regenerateApp(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-regenerate', inputOf(options, { id }))
  if (options.json === true) return sayJson(facts)
  sayNow(`Its new key, shown once: ${String(facts['key'])}`)
}

export async function deleteApp(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-delete', inputOf(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The application is deleted.')
}

export async function showSessions(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-list', inputOf(options))
  if (options.json === true) return sayJson(facts)
  const items = facts['sessions'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'created_by', 'authorized', 'authorized_by', 'expires_at']))
}

export async function stopSession(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-end', inputOf(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The session has ended.')
}
