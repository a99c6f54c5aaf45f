/**
 * Commands about applications and sessions.
 * @module
 */
import { Option, type Command } from 'commander'
import { applicationTypes } from '../../rules/permissions.ts'
import { createApp, type AppCreateOptions } from '../app-create.ts'
import {
  deleteApp,
  listApps,
  regenerateApp,
  showSessions,
  stopSession,
  type TenantOptions,
} from '../applications.ts'
import { addKeyTo, listKeysOf, revokeKeyOf, type AddKeyOptions } from '../application-keys.ts'
import { addSessionCallers } from './callers.ts'
import { dataOption, keyFileOption, masterKeyOption } from '../shared-options.ts'

const withTenant = (command: Command, description: string): Command =>
  command
    .description(description)
    .addOption(dataOption())
    .addOption(masterKeyOption())
    .option('--tenant <id>', 'whose it is, where there are several tenants')
    .option('--json', 'print one line of JSON')

function addKeyCommandsOf(app: Command): void {
  const key = app.command('key').description('the keys of one application')
  withTenant(key.command('list <application>'), 'its live keys, newest first').action(
    (id: string, options: TenantOptions) => listKeysOf(id, options),
  )
  withTenant(
    key.command('add <application>'),
    'give it one more key, print it once, and leave the others',
  )
    .option('--expires-at <moment>', 'from when on it is refused, such as 2030-01-31T12:00:00Z')
    .addOption(keyFileOption())
    .action((id: string, options: AddKeyOptions) => addKeyTo(id, options))
  withTenant(
    key.command('revoke <application> <key-id>'),
    'end one key by its id, at once, with its sessions',
  ).action((id: string, ended: string, options: TenantOptions) => revokeKeyOf(id, ended, options))
}

export function addAppCommands(program: Command): void {
  const app = program
    .command('app')
    .description('manage applications by the master key, or the key of a manager in COFFER_KEY')
  withTenant(app.command('create'), 'make an application, and print its key once')
    .option('--name <name>', 'what to call it (default: Made on the command line)')
    .option('--if-absent <name>', 'what to call it; where one has that name, do nothing')
    .addOption(
      new Option('--type <type>', 'what it is (default: management)').choices(applicationTypes),
    )
    .option(
      '--permission <name...>',
      'what it may do, such as token:create; a manager may do all where none is given',
    )
    .option('--rules <file>', 'a JSON array of rules, as the interface takes them')
    .addOption(keyFileOption())
    .action((options: AppCreateOptions) => createApp(options))
  withTenant(app.command('list'), 'the applications of a tenant, newest first').action(
    (options: TenantOptions) => listApps(options),
  )
  withTenant(
    app.command('regenerate <id>'),
    'give an application another key, print it once, and end its others',
  ).action((id: string, options: TenantOptions) => regenerateApp(id, options))
  withTenant(app.command('delete <id>'), 'delete an application, and end its sessions').action(
    (id: string, options: TenantOptions) => deleteApp(id, options),
  )
  addKeyCommandsOf(app)
  const session = program.command('session').description('look at sessions, and end them')
  withTenant(session.command('list'), 'the sessions of a tenant, newest first').action(
    (options: TenantOptions) => showSessions(options),
  )
  withTenant(session.command('end <id>'), 'end a session before its time').action(
    (id: string, options: TenantOptions) => stopSession(id, options),
  )
  addSessionCallers(session)
}
