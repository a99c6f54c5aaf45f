/**
 * `coffer keys status | rotate | retire`: the keys that values are sealed under.
 * @module
 */
import type { Command } from 'commander'
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Facts, Tell } from '../../vault/operator/operator-operation.ts'
import { progressFileBytesMin } from '../../limits/operation-limits.ts'
import type { ReportDone, BeginProgress } from '../../lib/progress.ts'
import { clearCopies, type FoundCopy } from '../../server/folder/copies.ts'
import type { FolderOptions } from '../../server/folder/data-folder.ts'
import { isInDatabase } from '../../server/folder/folder-database.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { pathsOf } from '../../server/folder/folder-stamp.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { advicesOf } from '../copy-advice.ts'
import { operate } from '../operate.ts'
import { withProgress } from '../show-progress.ts'
import { databaseIn } from '../database/replace-database.ts'
import { addJoin, addSplit } from './key-shares.ts'
import { addRekey } from './rekey.ts'
import { takesVault } from '../vault-options.ts'

interface KeysOptions extends FolderOptions {
  readonly json?: boolean
}

interface KeyFacts extends Facts {
  readonly number: number
  readonly state: string
  readonly made_at: string
  readonly rows: number
}

async function keysStatus(options: KeysOptions): Promise<void> {
  const facts = await operate(options, 'keys-status', {})
  if (options.json === true) return sayJson(facts)
  const keys = facts['keys'] as readonly KeyFacts[]
  for (const { number, state, made_at: madeAt, rows } of keys) {
    sayNow(`key ${number}: ${state}, made ${madeAt}, ${rows} rows are sealed under it`)
  }
  sayNow(`The keyring is under master key ${String(facts['master_key'])}.`)
  const left = Number(facts['keyrings_to_scrub'])
  if (left > 0) sayNow(`Older keyrings may be in the files, ${left} of them: run keys retire.`)
}

/** The size of a store in a database is not known here. */
const bytesOf = ({ data }: KeysOptions): number =>
  isInDatabase(data)
    ? progressFileBytesMin
    : (statSync(databaseIn(pathsOf(data).store), { throwIfNoEntry: false })?.size ?? 0)

/** Shows the number of rows looked at so far. */
function sealingTo(progress: BeginProgress): Tell {
  let done: ReportDone | undefined
  return ({ rows, of }) => {
    done ??= progress(Number(of), 'sealing')
    done(Number(rows))
  }
}

/** @throws CommandFailure, after its report, if rows did not open */
async function keysRotate(options: KeysOptions): Promise<void> {
  const told = { bytes: bytesOf(options), json: options.json === true }
  const facts = await withProgress(told, progress =>
    operate(options, 'keys-rotate', {}, sealingTo(progress)),
  )
  const { key, rows_resealed: rows, rows_damaged: damaged } = facts
  if (options.json === true) sayJson(facts)
  else sayNow(`Key ${String(key)} is the current one; ${String(rows)} rows were sealed anew.`)
  if (damaged !== 0) throw new CommandFailure(`${String(damaged)} rows did not open: run verify`)
}

const whereLeft = (scrubbed: unknown): string => {
  if (scrubbed === null) return 'in what the database has not vacuumed, its log and its backups'
  return scrubbed === true ? 'nowhere in the files' : 'still in the files'
}

function tellReceipt(facts: Facts): void {
  const keys = facts['keys'] as readonly KeyFacts[]
  sayNow(`Receipt of ${String(facts['retired_at'])}`)
  for (const { number, made_at: madeAt } of keys) {
    sayNow(`  key ${number}, made ${madeAt}: it is gone`)
  }
  if (keys.length === 0) sayNow('  no key was left to retire')
  sayNow(`  rows looked at: ${String(facts['rows_looked_at'])}; under a retired key: none`)
  sayNow(`  keyrings of before are ${whereLeft(facts['scrubbed'])}`)
  for (const file of facts['files_looked_at'] as readonly string[]) sayNow(`  looked at ${file}`)
  sayNow(`  ${String(facts['not_covered'])}`)
}

const notScrubbed =
  'keyrings of before are in the files still, as somebody reads them, such as a backup: ' +
  'run keys retire again once that is done'

/** Returns the file of a store in the folder, and each copy that was found. */
const filesOf = ({ data }: KeysOptions, copies: readonly FoundCopy[]): readonly string[] => [
  ...(isInDatabase(data) ? [] : [resolve(databaseIn(pathsOf(data).store))]),
  ...copies.map(({ path }) => path),
]

/** @throws CommandFailure, after its report, if older keyrings are left in the files */
async function keysRetire(options: KeysOptions): Promise<void> {
  const told = await operate(options, 'keys-retire', {})
  const copies = clearCopies(options.data)
  const left = copies.filter(({ state }) => state !== 'left')
  const facts: Facts = {
    ...told,
    files_looked_at: filesOf(options, copies),
    copies_left: left.map(({ path }) => path),
  }
  if (options.json === true) sayJson(facts)
  else tellReceipt(facts)
  if (facts['scrubbed'] === false) throw new CommandFailure(notScrubbed)
  if (left.length > 0) throw new CommandFailure(`a copy is left: ${advicesOf(left).join('; ')}`)
}

const ofKeys = (command: Command): Command =>
  takesVault(command, { store: 'any', joins: true }).option('--json', 'print one line of JSON')

export function addKeys(program: Command): void {
  const keys = program.command('keys').description('the keys that values are sealed under')
  addSplit(keys)
  addJoin(keys)
  ofKeys(keys.command('status'))
    .description('which keys there are, and how many rows are sealed under each')
    .action((options: KeysOptions) => keysStatus(options))
  ofKeys(keys.command('rotate'))
    .description('make a new key, and seal everything anew under it')
    .action((options: KeysOptions) => keysRotate(options))
  addRekey(keys)
  ofKeys(keys.command('retire'))
    .description('drop keys under which nothing is sealed, and print a receipt')
    .action((options: KeysOptions) => keysRetire(options))
}
