/**
 * A master key derived from a passphrase: the other inputs are in a small file of the data folder,
 * `master.kdf`, which is no secret. Without that file the key is lost.
 * @module
 */
import { existsSync, writeFileSync } from 'node:fs'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { bytesOfHex, equalBytes, hexOf } from '../../lib/bytes.ts'
import { deriveKey } from '../../crypto/keyring.ts'
import { passphraseSaltBytes, primitives } from '../../crypto/primitives.ts'
import { ownerOnlyFile, readRegular } from '../../lib/files.ts'
import {
  passphraseBytesMax,
  passphraseBytesMin,
  passphraseFileBytesMax,
  passphraseMemoryBytes,
  passphraseMemoryBytesMax,
  passphrasePasses,
  passphrasePassesMax,
} from '../../limits/operation-limits.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { askSecret, readSecretLine } from './secret-input.ts'
import { randomBytes } from '../process/system.ts'

const checkBytes = 8

/** Path of the derivation file kept beside a backup, which does not contain it. */
export const derivationBeside = (backup: string): string => `${backup}.kdf`

const damaged = (path: string) =>
  new CommandFailure(`${path} is damaged: restore it from beside a backup`)

const fileSchema = Type.Object(
  {
    version: Type.Literal(1),
    algorithm: Type.Literal('argon2id'),
    passes: Type.Integer({ minimum: 1, maximum: passphrasePassesMax }),
    memory_bytes: Type.Integer({
      minimum: 8_192,
      maximum: passphraseMemoryBytesMax,
      multipleOf: 1_024,
    }),
    salt: Type.String({ pattern: '^[0-9a-f]{32}$' }),
    /** Check of the derived key, so that a wrong passphrase is told from other damage. */
    check: Type.String({ pattern: '^[0-9a-f]{16}$' }),
  },
  { additionalProperties: false },
)

type Derivation = Static<typeof fileSchema>

/** Source of a passphrase: an open file, or the terminal if none is given. */
export interface PassphraseInput {
  readonly file?: number
}

function askPassphrase({ file }: PassphraseInput, prompt = 'Passphrase: '): Uint8Array {
  const passphrase =
    file === undefined
      ? askSecret(prompt, passphraseBytesMax)
      : readSecretLine(file, passphraseBytesMax)
  if (passphrase !== undefined && passphrase.length > 0) return passphrase
  throw new CommandFailure('expected a passphrase, and there was none')
}

function askNewPassphrase(input: PassphraseInput): Uint8Array {
  const passphrase = askPassphrase(input)
  if (passphrase.length < passphraseBytesMin) {
    passphrase.fill(0)
    throw new CommandFailure(`the passphrase is too short: expected ${passphraseBytesMin} bytes`)
  }
  if (input.file !== undefined) return passphrase
  const again = askPassphrase(input, 'Once more: ')
  const isSame = equalBytes(passphrase, again)
  again.fill(0)
  if (isSame) return passphrase
  passphrase.fill(0)
  throw new CommandFailure('the two passphrases differ: try again')
}

/** @returns the key, and its check */
function stretch(
  passphrase: Uint8Array,
  { passes, memory_bytes: memoryBytes, salt }: Pick<Derivation, 'passes' | 'memory_bytes' | 'salt'>,
) {
  try {
    const cost = { passes, memoryBytes }
    const key = primitives.keep(primitives.stretch(passphrase, bytesOfHex(salt), cost))
    return { key, check: hexOf(deriveKey(key, 'passphrase-check', salt).subarray(0, checkBytes)) }
  } catch {
    const mebibytes = memoryBytes / 1024 ** 2
    throw new CommandFailure(`a passphrase takes ${mebibytes} MiB of memory, which are not there`)
  } finally {
    passphrase.fill(0)
  }
}

/**
 * Derives a master key from a passphrase, and writes the file needed to derive it again.
 * @param path of that file, which must not exist
 * @returns a key that the caller wipes
 * @throws CommandFailure
 */
export function makePassphraseKey(path: string, input: PassphraseInput): Uint8Array {
  const how = {
    version: 1,
    algorithm: 'argon2id',
    passes: passphrasePasses,
    memory_bytes: passphraseMemoryBytes,
    salt: hexOf(randomBytes(passphraseSaltBytes)),
  } as const
  const { key, check } = stretch(askNewPassphrase(input), how)
  const derivation: Derivation = { ...how, check }
  const text = `${JSON.stringify(derivation)}\n`
  writeFileSync(path, text, { mode: ownerOnlyFile, flag: 'wx', flush: true })
  return key
}

function readDerivation(path: string): Derivation {
  let bytes: Buffer | undefined
  try {
    bytes = readRegular(path, passphraseFileBytesMax)
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error
    throw new CommandFailure(`no passphrase opens this vault: there is no ${path}`)
  }
  let found: unknown
  try {
    found = bytes && JSON.parse(bytes.toString('utf8'))
  } catch {
    // The file is damaged, as below.
  }
  if (Value.Check(fileSchema, found)) return found
  throw damaged(path)
}

/**
 * Copies the file to a free path, or does nothing if the vault has no passphrase.
 *
 * Root may run this beside another user's folder, who may have put a link there: so only a valid
 * derivation file is copied.
 * @throws CommandFailure for any other file
 */
export function copyDerivation(from: string, to: string): void {
  if (!existsSync(from)) return
  const text = `${JSON.stringify(readDerivation(from))}\n`
  writeFileSync(to, text, { mode: ownerOnlyFile, flag: 'wx', flush: true })
}

/**
 * @param path of the file that `makePassphraseKey` wrote
 * @returns a key that the caller wipes
 * @throws CommandFailure for a wrong passphrase
 */
export function readPassphraseKey(path: string, input: PassphraseInput): Uint8Array {
  const derivation = readDerivation(path)
  const { key, check } = stretch(askPassphrase(input), derivation)
  if (check === derivation.check) return key
  key.fill(0)
  throw new CommandFailure('that is not the passphrase of this vault')
}
