/**
 * `coffer keys rekey`: replaces the master key by another one.
 * @module
 */
import type { Command } from 'commander'
import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Facts } from '../../vault/operator/operator-operation.ts'
import {
  checkFolder,
  masterKeyFileOf,
  type FolderOptions,
} from '../../server/folder/data-folder.ts'
import { CommandFailure, usage } from '../../server/process/failure.ts'
import { releaseKeys } from '../../server/keys/key-source.ts'
import { beforeOf, makeNewKey } from '../../server/keys/next-master-key.ts'
import { sayJson, sayNow } from '../../server/process/system.ts'
import { operate, proveThere } from '../operate.ts'
import { takesVault } from '../vault-options.ts'

interface RekeyOptions extends FolderOptions {
  /** Place of the new key; absent: it replaces the old key in its file. */
  readonly newMasterKeyFile?: string
  /** True to keep no copy of a key that is replaced in its file. */
  readonly forgetOldKey?: boolean
  readonly json?: boolean
}

interface Plan {
  readonly input: Facts
  /** File that has the new key in the end. */
  readonly file: string
  /** Next steps for a person. */
  readonly advice: readonly string[]
}

function planNewFile(options: RekeyOptions, path: string): Plan {
  if (options.forgetOldKey === true) {
    const message = '--forget-old-key: with --new-master-key-file the old key stays where it is'
    throw usage(message)
  }
  const file = resolve(path)
  makeNewKey(file, options.data)
  const advice = 'Bring it to where the server has its key from before that starts again.'
  return { input: { new_file: file }, file, advice: [advice] }
}

function planInPlace(options: RekeyOptions): Plan {
  const found = masterKeyFileOf(options)
  if (found === undefined) {
    const message = 'the master key is in no file: name one for the new key'
    throw new CommandFailure(`${message} with --new-master-key-file`)
  }
  const file = realpathSync(found)
  const forgets = options.forgetOldKey === true
  const advice = forgets ? [] : [`The one before is in ${beforeOf(file)}: keep it with them.`]
  return { input: { file, forget_before: forgets }, file, advice }
}

/** A server in a mount namespace of its own may have another file at that path. */
async function checkNew({ data }: RekeyOptions, file: string): Promise<void> {
  releaseKeys()
  try {
    await proveThere({ data, masterKeyFile: file })
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    const what = `the running server has another key than the one in ${file}`
    throw new CommandFailure(`${what}: see what it has at that path before it ends`, 1, error)
  }
}

async function replace(options: RekeyOptions, { input, file }: Plan): Promise<Facts> {
  try {
    return await operate(options, 'keys-rekey', input)
  } catch (error) {
    if (!('new_file' in input) || !(error instanceof CommandFailure)) throw error
    const left = `${file} has a new key: remove it, unless the vault opens with it`
    throw new CommandFailure(`${error.message}; ${left}`, error.exitCode, error)
  }
}

async function keysRekey(options: RekeyOptions): Promise<void> {
  checkFolder(options).fill(0)
  const { newMasterKeyFile: path } = options
  const plan = path === undefined ? planInPlace(options) : planNewFile(options, path)
  const facts = await replace(options, plan)
  await checkNew(options, plan.file)
  if (options.json === true) return sayJson(facts)
  sayNow(`The vault opens with the new master key in ${plan.file}, and with no other.`)
  sayNow('Backups and copies from before open with the master key of before alone.')
  for (const line of plan.advice) sayNow(line)
  if (facts['scrubbed'] === false) sayNow('Some of it is left in the files: run keys retire.')
}

export function addRekey(keys: Command): void {
  takesVault(keys.command('rekey'), { store: 'any', joins: true })
    .description('put another master key in the place of the one there is')
    .option('--json', 'print one line of JSON')
    .option('--new-master-key-file <file>', 'where the new key is to be, if not in that place')
    .option('--forget-old-key', 'keep no copy of the old key, which older backups need')
    .action((options: RekeyOptions) => keysRekey(options))
}
