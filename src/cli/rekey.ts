/**
 * `coffer keys rekey`: another master key in the place of the one there is.
 * @module
 */
import { resolve } from 'node:path'
import { keyBytes } from '../crypto/primitives.ts'
import { checkFolder, masterKeyFileOf } from '../serve/data-folder.ts'
import { CommandFailure } from '../serve/failure.ts'
import { writeMasterKey } from '../serve/master-key.ts'
import { dropNext, nextOf, takePlace } from '../serve/next-master-key.ts'
import { randomBytes, sayNow } from '../serve/system.ts'
import type { KeysOptions } from './keys.ts'
import { operate } from './operate.ts'

function makeNext(file: string): void {
  const masterKey = randomBytes(keyBytes)
  try {
    writeMasterKey(nextOf(file), masterKey)
  } finally {
    masterKey.fill(0)
  }
}

/**
 * Whether the old key opens no more is not known where the server ended meanwhile: then both files
 * stay, and the next start takes the one that opens.
 */
export async function keysRekey(options: KeysOptions): Promise<void> {
  const found = masterKeyFileOf(options)
  if (found === undefined) {
    throw new CommandFailure('keys rekey replaces a key in a file: put it into one, and name that')
  }
  const file = resolve(found)
  checkFolder(options).fill(0)
  // Reads the keys, so that a key which is in its place by now is not taken for a left-over.
  const before = await operate(options, 'keys-status', {})
  dropNext(file)
  makeNext(file)
  const facts = await operate(options, 'keys-rekey', { path: nextOf(file) })
  if (Number(facts['master_key']) <= Number(before['master_key'])) {
    throw new CommandFailure('the master key was not replaced: see the log of the server')
  }
  takePlace(file)
  if (options.json === true) return sayNow(JSON.stringify(facts))
  sayNow(
    `The vault opens with the new master key in ${file}, number ${String(facts['master_key'])}.`,
  )
  sayNow('The old one opens no more than backups and copies from before: destroy it with them.')
  if (facts['scrubbed'] !== true)
    sayNow('Some of the old keyring is left in the files: run keys retire.')
}
