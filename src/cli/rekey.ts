/**
 * `coffer keys rekey`: another master key in the place of the one there is.
 * @module
 */
import { resolve } from 'node:path'
import { checkFolder, masterKeyFileOf } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { sayJson, sayNow } from '../serve/system.ts'
import type { KeysOptions } from './keys.ts'
import { operate } from './operate.ts'

export async function keysRekey(options: KeysOptions): Promise<void> {
  checkFolder(options).fill(0)
  const found = masterKeyFileOf(options)
  if (found === undefined) {
    throw new CommandFailure('keys rekey replaces a key in a file: put it into one, and name that')
  }
  const file = resolve(found)
  const facts = await operate(options, 'keys-rekey', { file })
  if (options.json === true) return sayJson(facts)
  sayNow(`The vault opens with the new master key in ${file}.`)
  sayNow('Backups and copies from before open with a copy of the one before alone.')
  if (facts['scrubbed'] === false) sayNow('Some of it is left in the files: run keys retire.')
}
