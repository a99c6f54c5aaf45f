/**
 * Where a command has the master key from: one place, which is chosen by one option.
 *
 * A file, in the data folder where nothing is chosen; a credential of systemd; a variable of the
 * environment; a passphrase.
 * @module
 */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownBytes } from '../../lib/bytes.ts'
import { primitives } from '../../crypto/primitives.ts'
import { CommandFailure, usageExitCode } from '../process/failure.ts'
import { decodeMasterKey, readCredential, readMasterKey } from './master-key.ts'
import { makePassphraseKey, readPassphraseKey, type PassphraseInput } from './passphrase.ts'

/** As the command line says it; at most one of them. */
export interface KeyOptions {
  /** Where the master key is, when not in the folder: a thief of the folder then has no key. */
  readonly masterKeyFile?: string
  /** The name of a credential of the unit that started this process. */
  readonly masterKeyCredential?: string
  /** Asked for at the terminal. */
  readonly passphrase?: boolean
  /** The number of an open file that it is read from. */
  readonly passphraseFd?: string
}

/** Of the options of a command, those that say where the key is. */
export function keyOptionsOf(options: KeyOptions): KeyOptions {
  const { masterKeyFile, masterKeyCredential, passphrase, passphraseFd } = options
  return {
    ...(masterKeyFile === undefined ? {} : { masterKeyFile }),
    ...(masterKeyCredential === undefined ? {} : { masterKeyCredential }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(passphraseFd === undefined ? {} : { passphraseFd }),
  }
}

/** Where the files are that a vault has without being asked. */
export interface KeyPlaces {
  /** Of the master key; absent where one has to be named. */
  readonly file?: string
  /** What a passphrase takes beside itself. */
  readonly derivation: string
}

/** `COFFER_MASTER_KEY`; it stands for no option, so that no argument ever holds a key. */
export const masterKeyVariable = 'COFFER_MASTER_KEY'

type Source =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'credential'; readonly path: string }
  | { readonly kind: 'variable' }
  | ({ readonly kind: 'passphrase' } & PassphraseInput)

/*
 * A key that can be had once only is held while a command has use of it.
 */

interface Held {
  /** What the variable has said: a key, or nothing that is one. */
  variable?: Uint8Array | 'wrong'
  /** What a passphrase gave. */
  passphrase?: Uint8Array
}

const held: Held = {}

/**
 * Takes the key out of an environment, before anything else may see it there or hand it on.
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

/** Whether the parent of this process put the key into its environment. */
export const isKeyInEnvironment = (): boolean => held.variable !== undefined

/** For a process that stays: a key that was had once only is had no more. */
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

/*
 * Which one it is.
 */

const refuse = (message: string): CommandFailure => new CommandFailure(message, usageExitCode)

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

/** The option or variable that names the key, or that it lies in the folder. */
export const sourceNameOf = (options: KeyOptions): string => givenIn(options)[0] ?? 'data folder'

/** Whether any place is chosen. */
export const isSourceGiven = (options: KeyOptions): boolean => givenIn(options).length > 0

/** @throws CommandFailure where the key is to come from two places */
export function assertOneSource(options: KeyOptions): void {
  const given = givenIn(options)
  if (given.length < 2) return
  throw refuse(`the master key comes from one place: choose one of ${given.join(' and ')}`)
}

function credentialOf(name: string): Source {
  const folder = process.env['CREDENTIALS_DIRECTORY']
  if (folder === undefined || folder === '') {
    throw refuse('--master-key-credential: systemd has handed over none; see LoadCredential=')
  }
  if (!/^[\w.-]{1,255}$/.test(name) || name === '.' || name === '..') {
    throw refuse('--master-key-credential: expected a name of letters, digits and . _ -')
  }
  return { kind: 'credential', path: join(folder, name) }
}

function openFileOf(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text)
  throw refuse('--passphrase-fd: expected the number of an open file, such as 0')
}

/** @throws CommandFailure */
function sourceOf(options: KeyOptions, { file, derivation }: KeyPlaces): Source {
  assertOneSource(options)
  const { masterKeyFile, masterKeyCredential, passphrase, passphraseFd } = options
  if (masterKeyFile !== undefined) return { kind: 'file', path: masterKeyFile }
  if (masterKeyCredential !== undefined) return credentialOf(masterKeyCredential)
  if (held.variable !== undefined) return { kind: 'variable' }
  if (passphrase === true) return { kind: 'passphrase' }
  if (passphraseFd !== undefined) return { kind: 'passphrase', file: openFileOf(passphraseFd) }
  if (file === undefined)
    throw refuse('say where the master key of the vault is: --master-key-file')
  if (!existsSync(file) && existsSync(derivation)) {
    throw refuse('a passphrase opens this vault: say --passphrase or --passphrase-fd')
  }
  return { kind: 'file', path: file }
}

/** Whether another process may have the key from the same place, and this one once more. */
export const isReadAgain = (options: KeyOptions): boolean =>
  options.passphrase !== true && options.passphraseFd === undefined && held.variable === undefined

/** The path that the key is read from; `undefined` where it is in no file of the operator's. */
export const keyFileOf = (options: KeyOptions, places: KeyPlaces): string | undefined => {
  const source = sourceOf(options, places)
  return source.kind === 'file' ? source.path : undefined
}

function fromVariable(): Uint8Array {
  if (held.variable instanceof Uint8Array) return copyOf(held.variable)
  throw refuse(`${masterKeyVariable}: expected 64 hexadecimal digits`)
}

/**
 * The master key of a vault.
 * @returns a key that its user wipes
 * @throws CommandFailure when the place has none, or is not as it must be
 */
export function obtainMasterKey(options: KeyOptions, places: KeyPlaces): Uint8Array {
  const source = sourceOf(options, places)
  switch (source.kind) {
    case 'file':
      return readMasterKey(source.path)
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
 * The master key of a vault that is being made. A key that is there already, in a place outside of
 * the folder, is used as it is; of a passphrase one is made.
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
