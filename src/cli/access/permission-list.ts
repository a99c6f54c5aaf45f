/**
 * `coffer permissions`: the permissions that can be granted, asked of the vault as a caller.
 * @module
 */
import { Option, type Command } from 'commander'
import type { ApplicationType } from '../../client/index.ts'
import { applicationTypes } from '../../rules/permissions.ts'
import { sayJson } from '../../server/process/system.ts'
import { answerOf, isPermissionList } from '../answer-shapes.ts'
import { takesCaller, withClient, type ReachOptions } from '../reach.ts'
import { printTable, tableOf } from '../table.ts'

interface PermissionOptions extends ReachOptions {
  readonly type?: ApplicationType
}

const showPermissions = (options: PermissionOptions): Promise<void> =>
  withClient(options, async ({ permissions }) => {
    const types = options.type === undefined ? [] : [options.type]
    const known = await answerOf(isPermissionList, permissions.list(types))
    if (options.json === true) return sayJson({ permissions: known })
    const rows = known.map(each => ({ ...each, types: each.application_types.join(', ') }))
    printTable(tableOf(rows, ['type', 'types', 'description']))
  })

export function addPermissions(program: Command): void {
  takesCaller(program.command('permissions'))
    .description('what can be granted, and to which applications')
    .addOption(new Option('--type <type>', 'to this one alone').choices(applicationTypes))
    .action((options: PermissionOptions) => showPermissions(options))
}
