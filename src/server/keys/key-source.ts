/**
 * Source of a command's master key: one place, chosen by one option.
 *
 * A file, by default in the data folder; a systemd credential; an environment variable; a
 * passphrase.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownBytes } from '../../lib/bytes.ts'
import { primitives } from '../../crypto/primitives.ts'
import { usage } from '../process/failure.ts'
import {
  decodeMasterKey,
  readCredential,
  readMasterKey,
  readMasterKeyBeside,
} from './master-key.ts'
import { makePassphraseKey, readPassphraseKey, type PassphraseInput } from './passphrase.ts'

/** Options of the command line; at most one of them is given. */
export interface KeyOptions {
  /** Path of the master key outside the folder: a thief of the folder then lacks the key. */
  readonly masterKeyFile?: string
  /** Name of a credential of the unit that started this process. */
  readonly masterKeyCredential?: string
  /** The passphrase is asked for at the terminal. */
  readonly passphrase?: boolean
  /** Number of the open file from which the passphrase is read. */
  readonly passphraseFd?: string
}

/** Picks the options that name the source of the key. */
export function keyOptionsOf(options: KeyOptions): KeyOptions {
  const { masterKeyFile, masterKeyCredential, passphrase, passphraseFd } = options
  return {
    ...(masterKeyFile === undefined ? {} : { masterKeyFile }),
    ...(masterKeyCredential === undefined ? {} : { masterKeyCredential }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(passphraseFd === undefined ? {} : { passphraseFd }),
  }
}

/** Default paths of a vault's files. */
export interface KeyPlaces {
  /** Path of the master key; absent if the operator has to name one. */
  readonly file?: string
  /** Path of the derivation file, which a passphrase needs. */
  readonly derivation: string
}

/** `COFFER_MASTER_KEY`; it replaces an option, so that no argument ever holds a key. */
export const masterKeyVariable = 'COFFER_MASTER_KEY'

type Source =
  /** `isNamed` unless it is where the data folder has it. */
  | { readonly kind: 'file'; readonly path: string; readonly isNamed: boolean }
  | { readonly kind: 'credential'; readonly path: string }
  | { readonly kind: 'variable' }
  | ({ readonly kind: 'passphrase' } & PassphraseInput)

/* Keys that can be read only once are held while a command needs them. */

interface ReadSecrets {
  /** Content of the variable: a key, or `wrong` if it is not one. */
  variable?: Uint8Array | 'wrong'
  /** The key derived from a passphrase. */
  passphrase?: Uint8Array
}

const held: ReadSecrets = {}

/**
 * Removes the key from an environment, before anything else can see it there or pass it on.
 * @param environment of this process
 */
export function takeKeyVariable(environment: Record<string, string | undefined>): void {
  const text = environment[masterKeyVariable]
  if (text === undefined) return
  delete environment[masterKeyVariable]
  const digits = Buffer.from(text, 'latin1')
  held.variable = decodeMasterKey(digits) ?? 'wrong'
  digits.fill(0)
}

/** True if the parent process put the key into the environment. */
export const isKeyInEnvironment = (): boolean => held.variable !== undefined

/** For a process that keeps running: wipes keys that could be read only once. */
export function releaseKeys(): void {
  for (const key of [held.variable, held.passphrase]) if (key instanceof Uint8Array) key.fill(0)
  delete held.variable
  delete held.passphrase
}

function copyOf(key: Uint8Array): Uint8Array {
  const copy = ownBytes(key.length)
  copy.set(key)
  return primitives.keep(copy)
}

/* Choice of the source. */

function givenIn(options: KeyOptions): readonly string[] {
  const { masterKeyFile, masterKeyCredential, passphrase, passphraseFd } = options
  const all: readonly [string, boolean][] = [
    ['--master-key-file', masterKeyFile !== undefined],
    ['--master-key-credential', masterKeyCredential !== undefined],
    ['--passphrase', passphrase === true],
    ['--passphrase-fd', passphraseFd !== undefined],
    [masterKeyVariable, held.variable !== undefined],
  ]
  return all.filter(([, isGiven]) => isGiven).map(([name]) => name)
}

/** Name of the option or variable that gives the key, or `data folder`. */
export const sourceNameOf = (options: KeyOptions): string => givenIn(options)[0] ?? 'data folder'

/** True if an option or the variable chooses a source. */
export const isSourceGiven = (options: KeyOptions): boolean => givenIn(options).length > 0

/** @throws CommandFailure if there are two sources */
export function assertOneSource(options: KeyOptions): void {
  const given = givenIn(options)
  if (given.length < 2) return
  throw usage(`the master key comes from one place: choose one of ${given.join(' and ')}`)
}

function credentialOf(name: string): Source {
  const folder = process.env['CREDENTIALS_DIRECTORY']
  if (folder === undefined || folder === '') {
    throw usage('--master-key-credential: systemd has handed over none; see LoadCredential=')
  }
  if (!/^[\w.-]{1,255}$/.test(name) || name === '.' || name === '..') {
    throw usage('--master-key-credential: expected a name of letters, digits and . _ -')
  }
  return { kind: 'credential', path: join(folder, name) }
}

function openFileOf(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw usage('--passphrase-fd: expected the number of an open file, such as 0')
}

/** @throws CommandFailure */
function sourceOf(options: KeyOptions, { file, derivation }: KeyPlaces): Source {
  assertOneSource(options)
  const { masterKeyFile, masterKeyCredential, passphrase, passphraseFd } = options
  if (masterKeyFile !== undefined) return { kind: 'file', path: masterKeyFile, isNamed: true }
  if (masterKeyCredential !== undefined) return credentialOf(masterKeyCredential)
  if (held.variable !== undefined) return { kind: 'variable' }
  if (passphrase === true) return { kind: 'passphrase' }
  if (passphraseFd !== undefined) return { kind: 'passphrase', file: openFileOf(passphraseFd) }
  if (file === undefined) throw usage('say where the master key of the vault is: --master-key-file')
  if (!existsSync(file) && existsSync(derivation)) {
    throw usage('a passphrase opens this vault: say --passphrase or --passphrase-fd')
  }
  return { kind: 'file', path: file, isNamed: false }
}

/** True if this process and others can read the key from its source again. */
export const isReadAgain = (options: KeyOptions): boolean =>
  options.passphrase !== true && options.passphraseFd === undefined && held.variable === undefined

/** Path of the file with the key; `undefined` if it is in no file of the operator's. */
export const keyFileOf = (options: KeyOptions, places: KeyPlaces): string | undefined => {
  const source = sourceOf(options, places)
  return source.kind === 'file' ? source.path : undefined
}

function fromVariable(): Uint8Array {
  if (held.variable instanceof Uint8Array) return copyOf(held.variable)
  throw usage(`${masterKeyVariable}: expected 64 hexadecimal digits`)
}

/**
 * Reads the master key of a vault.
 * @returns a key that the caller wipes
 * @throws CommandFailure if the source has none, or an invalid one
 */
export function obtainMasterKey(options: KeyOptions, places: KeyPlaces): Uint8Array {
  const source = sourceOf(options, places)
  switch (source.kind) {
    case 'file':
      return source.isNamed ? readMasterKey(source.path) : readMasterKeyBeside(source.path)
    case 'credential':
      return readCredential(source.path)
    case 'variable':
      return fromVariable()
    case 'passphrase':
      held.passphrase ??= readPassphraseKey(places.derivation, source)
      return copyOf(held.passphrase)
  }
}

/**
 * Obtains the master key of a new vault. A key that exists outside the folder is used as it is;
 * from a passphrase a new one is derived.
 * @param makeFile makes a key in a file
 * @throws CommandFailure
 */
export function obtainNewMasterKey(
  options: KeyOptions,
  places: KeyPlaces,
  makeFile: (path: string) => Uint8Array,
): Uint8Array {
  const source = sourceOf(options, places)
  if (source.kind === 'passphrase') return makePassphraseKey(places.derivation, source)
  const isThere = (path: string) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
  if (source.kind === 'file' && !isThere(source.path)) return makeFile(source.path)
  return obtainMasterKey(options, places)
}
