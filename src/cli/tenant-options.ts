/**
 * Options of commands that manage the contents of one tenant.
 * @module
 */
import type { Command } from 'commander'
import type { Facts } from '../vault/operator/operator-operation.ts'
import type { FolderOptions } from '../server/folder/data-folder.ts'
import { takesVault } from './vault-options.ts'

export interface TenantOptions extends FolderOptions {
  /** May be left out if there is only one tenant. */
  readonly tenant?: string
  readonly json?: boolean
}

export const takesTenant = (command: Command): Command =>
  takesVault(command, { store: 'any', joins: true })
    .option('--tenant <id>', 'whose it is, where there are several tenants')
    .option('--json', 'print one line of JSON')

/** Adds the tenant to the input of an operation, if one is named. */
export const inTenant = ({ tenant }: Pick<TenantOptions, 'tenant'>, input: Facts = {}): Facts =>
  tenant === undefined ? input : { ...input, tenant }
