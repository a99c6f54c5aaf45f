/**
 * The folder of a witness: its private key, and for each log the newest note that it has cosigned.
 *
 * A note is named by the SHA-256 of its origin, and replaced as a whole before it is answered, so a
 * witness that was killed has forgotten nothing that it told. One process holds the folder.
 * @module
 */
import { mkdirSync, readdirSync, closeSync, fsyncSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointIn } from '../../audit/checkpoint.ts'
import { makeNoteSigner, isKeyName, type NoteSigner } from '../../audit/note-keys.ts'
import { bytesOfHex, hexOf, utf8, utf8Text } from '../../lib/bytes.ts'
import { ownerOnlyFolder, readRegular, syncFolder, writeWhole } from '../../lib/files.ts'
import { pinnedNoteBytesMax } from '../../limits/operation-limits.ts'
import { holdFolder } from '../folder/instance-lock.ts'
import { openNewFile, replaceFile } from '../folder/regular-files.ts'
import { CommandFailure } from '../process/failure.ts'
import { elapsedMs, randomBytes, sleep } from '../process/system.ts'

const keyName = 'witness.key'
const seedBytes = 32
const ending = '.note'
const hexForm = `expected ${2 * seedBytes} hexadecimal digits`

export interface WitnessFolder {
  readonly signer: NoteSigner
  readonly newest: (origin: string) => string | undefined
  /** @param hash of an origin, in lower-case hex */
  readonly byHash: (hash: string) => string | undefined
  /** Keeps a note in place of the one before; it is on disk when this returns. */
  readonly keep: (origin: string, note: string) => void
}

const hashOf = (origin: string): string => hexOf(Bun.SHA256.hash(utf8(origin)) as Uint8Array)

/** Makes the key, unless it is there. @returns the seed */
function seedIn(folder: string): Uint8Array {
  const path = join(folder, keyName)
  const made = openNewFile(path)
  if (made !== undefined) {
    writeWhole(made.file, utf8(hexOf(randomBytes(seedBytes))))
    fsyncSync(made.file)
    closeSync(made.file)
    syncFolder(folder)
  }
  const text = utf8Text(readRegular(path, 2 * seedBytes) ?? new Uint8Array())
  if (/^[0-9a-f]{64}$/.test(text)) return bytesOfHex(text)
  throw new CommandFailure(`${path} holds no key of a witness: ${hexForm}, or put it back`)
}

function notesIn(folder: string): Map<string, string> {
  const notes = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(ending)) continue
    const path = join(folder, name)
    const note = utf8Text(readRegular(path, pinnedNoteBytesMax) ?? new Uint8Array())
    const checkpoint = checkpointIn(note)
    if (checkpoint === undefined || `${hashOf(checkpoint.origin)}${ending}` !== name) {
      throw new CommandFailure(
        `${path} is no checkpoint that was cosigned: put it back, or the witness forgets its log`,
      )
    }
    notes.set(name.slice(0, -ending.length), note)
  }
  return notes
}

/**
 * Opens the folder, and makes it and the key where they are not.
 * @param name of the witness, as in its verifier key
 * @throws CommandFailure if another process holds it, or a file in it is damaged
 */
export function openWitnessFolder(folder: string, name: string): WitnessFolder {
  if (!isKeyName(name)) throw new CommandFailure('--name: expected a name without blanks and +')
  mkdirSync(folder, { recursive: true, mode: ownerOnlyFolder })
  holdFolder(folder, { elapsedMs, sleep })
  const signer = makeNoteSigner(name, 'witness', seedIn(folder))
  const notes = notesIn(folder)
  return {
    signer,
    newest: origin => notes.get(hashOf(origin)),
    byHash: hash => notes.get(hash),
    keep(origin, note) {
      const hash = hashOf(origin)
      replaceFile(join(folder, `${hash}${ending}`), note)
      notes.set(hash, note)
    },
  }
}
