/**
 * `coffer app list | regenerate | delete` and `coffer session list | end`.
 * @module
 */
import type { Facts } from '../administration/operation.ts'
import type { FolderOptions } from '../serve/data-folder.ts'
import { sayNow } from '../serve/system.ts'
import { operate } from './operate.ts'

export interface TenantOptions extends FolderOptions {
  /** May be left out where there is one tenant alone. */
  readonly tenant?: string
  readonly json?: boolean
}

const inputOf = ({ tenant }: TenantOptions, more: Facts = {}): Facts =>
  tenant === undefined ? more : { ...more, tenant }

/** Columns of texts, each as wide as its widest. */
function printTable(rows: readonly (readonly string[])[]): void {
  const [first] = rows
  const widthOf = (at: number) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0)
  const widths = first?.map((_, at) => widthOf(at)) ?? []
  for (const row of rows)
    sayNow(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/**
 * Names are whatever a caller chose: what would move the cursor, end the line or turn the order of
 * its letters is shown as a mark (Unicode, general categories Cc, Cf, Cs, Zl and Zp).
 */
const shown = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd')

const tableOf = (items: readonly Facts[], columns: readonly string[]): string[][] => [
  [...columns],
  ...items.map(item => columns.map(name => shown(String(item[name] ?? '-')))),
]

export async function listApps(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-list', inputOf(options))
  if (options.json === true) return sayNow(JSON.stringify(facts))
  const items = facts['applications'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'type', 'name', 'created_at', 'expires_at']))
}

export async function regenerateApp(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-regenerate', inputOf(options, { id }))
  if (options.json === true) return sayNow(JSON.stringify(facts))
  sayNow(`Its new key, shown once: ${String(facts['key'])}`)
}

export async function deleteApp(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-delete', inputOf(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The application is deleted.')
}

export async function showSessions(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-list', inputOf(options))
  if (options.json === true) return sayNow(JSON.stringify(facts))
  const items = facts['sessions'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'created_by', 'authorized', 'authorized_by', 'expires_at']))
}

export async function stopSession(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'session-end', inputOf(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The session has ended.')
}
