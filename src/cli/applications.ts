/**
 * `coffer app`: the applications of a vault and their keys, of which several may be live; for
 * scripts, and for an operator who has lost the key of every management application.
 *
 * An operator with folder and master key may make another one: the interface refuses to let the
 * last manager go, but cannot keep its key from being lost. Source: contract section 13.
 * @module
 */
import { Option, type Command } from 'commander'
import type { Facts } from '../vault/operator/operator-operation.ts'
import { isJsonObject, toPlain } from '../lib/json/json.ts'
import { decodeUtf8, parseJson } from '../lib/json/parse-json.ts'
import { expectedOneOf } from '../lib/spelling.ts'
import { nameCharsMax } from '../limits/limits.ts'
import { rulesFileBytesMax } from '../limits/operation-limits.ts'
import { applicationTypes, permissions } from '../rules/permissions.ts'
import { CommandFailure, usage } from '../server/process/failure.ts'
import { readHanded } from '../server/folder/handed-files.ts'
import { sayJson, sayNow } from '../server/process/system.ts'
import { keyFileOption, withKeyFile, type KeyFile } from './key-file.ts'
import { operate } from './operate.ts'
import { printTable, tableOf } from './table.ts'
import { inTenant, takesTenant, type TenantOptions } from './tenant-options.ts'

interface CreateOptions extends TenantOptions {
  readonly name?: string
  /** Name of an application to make only if none has it yet. */
  readonly ifAbsent?: string
  readonly type?: string
  readonly permission?: readonly string[]
  /** A file: a JSON array of rules, as the interface takes them. */
  readonly rules?: string
  readonly keyFile?: string
}

const defaultName = 'Made on the command line'

function nameOf({ name, ifAbsent }: CreateOptions): string {
  if (name !== undefined && ifAbsent !== undefined) {
    throw usage('--name: expected without --if-absent, which names it too')
  }
  const given = (ifAbsent ?? name ?? defaultName).trim()
  if (given !== '' && given.length <= nameCharsMax) return given
  const flag = ifAbsent === undefined ? '--name' : '--if-absent'
  throw usage(`${flag}: expected 1 to ${nameCharsMax} characters`)
}

function permissionsOf({ permission: given = [] }: CreateOptions): Facts {
  const known: readonly string[] = permissions
  const wrong = given.findIndex(name => !known.includes(name))
  if (wrong < 0) return given.length === 0 ? {} : { permissions: [...new Set(given)] }
  throw usage(`--permission: number ${wrong + 1}: ${expectedOneOf(given[wrong], permissions)}`)
}

function readRules(path: string): unknown {
  try {
    const bytes = readHanded(path, rulesFileBytesMax)
    const json = bytes && parseJson(decodeUtf8(bytes))
    if (Array.isArray(json) && json.every(isJsonObject)) return toPlain(json)
  } catch (error) {
    // The error repeats no word of the file.
    if (error instanceof CommandFailure) throw error
  }
  const expected = `a JSON array of rules, of at most ${rulesFileBytesMax} bytes`
  throw usage(`the file at ${path} of --rules: expected ${expected}`)
}

/** @throws CommandFailure that repeats no value but a path */
function requestOf(options: CreateOptions): Facts {
  const { type, rules, ifAbsent } = options
  return inTenant(options, {
    name: nameOf(options),
    ...(type === undefined ? {} : { type }),
    ...permissionsOf(options),
    ...(rules === undefined ? {} : { rules: readRules(rules) as Facts[] }),
    ...(ifAbsent === undefined ? {} : { if_absent: true }),
  })
}

const kinds: Readonly<Record<string, string>> = {
  management: 'Management',
  private: 'Private',
  public: 'Public',
}

/** The key, in a file or printed here, is shown in one piece with its application. */
function tellCreated(options: CreateOptions, { key, ...facts }: Facts, keyFile?: KeyFile): void {
  const place = keyFile === undefined ? { key } : { key_file: keyFile.path }
  if (options.json === true) {
    return sayJson({ ...facts, ...(key === undefined ? {} : place) })
  }
  const id = String(facts['application_id'])
  if (key === undefined) return sayNow(`There is an application of that name: ${id}`)
  sayNow(`${kinds[options.type ?? 'management']} application: ${id}`)
  sayNow(
    keyFile === undefined
      ? `Its key, shown once:    ${String(key)}`
      : `Its key is in           ${keyFile.path}`,
  )
}

/** Prints the key only once its application is on disk, so that a printed key works. */
async function createApp(options: CreateOptions): Promise<void> {
  const request = requestOf(options)
  await withKeyFile(options.keyFile, async keyFile => {
    const facts = await operate(options, 'app-create', request)
    if (facts['key'] === undefined) keyFile?.giveUp()
    else keyFile?.write(String(facts['key']))
    tellCreated(options, facts, keyFile)
  })
}

async function listApps(options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-list', inTenant(options))
  if (options.json === true) return sayJson(facts)
  const items = facts['applications'] as readonly Facts[]
  printTable(tableOf(items, ['id', 'type', 'name', 'created_at', 'expires_at']))
}

interface NewKeyOptions extends TenantOptions {
  readonly keyFile?: string
}

/** Prints the key only once it is on disk, so that a printed key works. */
async function regenerateApp(id: string, options: NewKeyOptions): Promise<void> {
  await withKeyFile(options.keyFile, async keyFile => {
    const facts = await operate(options, 'app-regenerate', inTenant(options, { id }))
    const { key, ...known } = facts
    keyFile?.write(String(key))
    const place = keyFile === undefined ? { key } : { key_file: keyFile.path }
    if (options.json === true) return sayJson({ ...known, ...place })
    sayNow(
      keyFile === undefined
        ? `Its new key, shown once: ${String(key)}`
        : `Its new key is in        ${keyFile.path}`,
    )
  })
}

async function deleteApp(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-delete', inTenant(options, { id }))
  sayNow(options.json === true ? JSON.stringify(facts) : 'The application is deleted.')
}

interface AddKeyOptions extends NewKeyOptions {
  /** An instant, as the interface takes it. */
  readonly expiresAt?: string
}

async function listKeys(id: string, options: TenantOptions): Promise<void> {
  const facts = await operate(options, 'app-key-list', inTenant(options, { id }))
  if (options.json === true) return sayJson(facts)
  const keys = facts['keys'] as readonly Facts[]
  printTable(tableOf(keys, ['id', 'version', 'created_at', 'expires_at', 'last_used_on']))
}

/** Prints the key only once it is on disk, so that a printed key works. */
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

function addCreate(app: Command): void {
  takesTenant(app.command('create'))
    .description('make an application, and print its key once')
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
    .action((options: CreateOptions) => createApp(options))
}

function addKeyCommands(app: Command): void {
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

export function addApp(program: Command): void {
  const app = program
    .command('app')
    .description('manage applications by the master key, or the key of a manager in COFFER_KEY')
  addCreate(app)
  takesTenant(app.command('list'))
    .description('the applications of a tenant, newest first')
    .action((options: TenantOptions) => listApps(options))
  takesTenant(app.command('regenerate <id>'))
    .description('give an application another key, print it once, and end its others')
    .addOption(keyFileOption())
    .action((id: string, options: NewKeyOptions) => regenerateApp(id, options))
  takesTenant(app.command('delete <id>'))
    .description('delete an application, and end its sessions')
    .action((id: string, options: TenantOptions) => deleteApp(id, options))
  addKeyCommands(app)
}
