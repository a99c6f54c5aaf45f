/**
 * A data folder whose store is in a shared database: the file `store/database` names it, as JSON
 * `{"url": …, "password_file": …}`. It never holds the password.
 *
 * The folder then holds only what one machine needs to serve: the lock, the control socket, and the
 * master key unless an option names another place. Other machines serve the same database from
 * folders of their own.
 * @module
 */
import { existsSync, statSync, type Stats } from 'node:fs'
import { join, resolve } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Log } from '../../deps.ts'
import { ApiError, expectedBy } from '../../lib/errors.ts'
import { bytesOfHex, hexOf } from '../../lib/bytes.ts'
import { readRegular } from '../../lib/files.ts'
import { folderFileBytesMax, passwordFileBytesMax } from '../../limits/operation-limits.ts'
import { vaultConnections } from '../../store/core/limits.ts'
import type { OpenStoreOptions, StorePlace } from '../../store/open.ts'
import { parseDatabase, printDatabase, type DatabaseAddress } from '../../store/postgres/address.ts'
import { DatabaseError, databaseErrorOf } from '../../store/postgres/database-error.ts'
import { CommandFailure, usage } from '../process/failure.ts'
import { pathsOf } from './folder-stamp.ts'
import { mayRead } from './may-read.ts'
import { replaceFile } from './regular-files.ts'
import { randomBytes } from '../process/system.ts'

/** Database options of commands. */
export interface DatabaseOptions {
  /** A PostgreSQL URL. */
  readonly store?: string
  readonly storePasswordFile?: string
}

const moverBytes = 16

const placeSchema = Type.Object({
  url: Type.String(),
  password_file: Type.Optional(Type.String()),
  /** While the vault moves into this folder: the id by which the database knows the folder. */
  mover: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$' })),
})

type DatabasePlace = Static<typeof placeSchema>

/** Removes the password of a URL, so that two URLs can be compared. */
function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.password = ''
  return url.href
}

/**
 * Each serving process reads it, more than once: a pipe would give it only to the first.
 * @param check gets the state of the open file before it is read
 */
function readPassword(file: string, check?: (stats: Stats) => void): string {
  let bytes: Buffer | undefined
  try {
    bytes = readRegular(file, passwordFileBytesMax, check)
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    throw new CommandFailure(
      'the file of --store-password-file cannot be read: check its path, owner and mode',
    )
  }
  if (bytes !== undefined) return bytes.toString('utf8').replace(/\r?\n$/, '')
  const expected = `expected a regular file of at most ${passwordFileBytesMax} bytes`
  throw new CommandFailure(`the file of --store-password-file: ${expected}`)
}

/** Owners of a folder that names a database, who could have it name any file and any host. */
const ownersOf = (data: string): readonly number[] => {
  const { store, database } = pathsOf(data)
  return [data, store, database].map(path => statSync(path).uid)
}

/**
 * The database of a folder gets what is in its password file: so root's commands read for it only
 * what its owner may read.
 * @throws CommandFailure
 */
const assertReadableBy =
  (data: string, path: string) =>
  (stats: Stats): void => {
    if (process.geteuid?.() !== 0) return
    if (ownersOf(data).every(owner => mayRead(owner, data, path, stats))) return
    throw new CommandFailure(
      `the owner of ${data} may not read the password file that it names: name it by ` +
        '--store-password-file, or run this as that user',
    )
  }

interface PasswordFile {
  readonly path: string
  /** Folder that remembers it; absent where the operator has named it. */
  readonly rememberedBy?: string
}

/** Only the environment may put the password into the URL: every user can read arguments. */
function passwordOf(url: string, file: PasswordFile | undefined): string | undefined {
  if (file !== undefined) {
    const { path, rememberedBy } = file
    return readPassword(
      path,
      rememberedBy === undefined ? undefined : assertReadableBy(rememberedBy, path),
    )
  }
  const given = process.env['COFFER_STORE']
  if (given === undefined || withoutPassword(given) !== url) return undefined
  try {
    return decodeURIComponent(new URL(given).password)
  } catch {
    throw usage('COFFER_STORE: expected escapes of UTF-8')
  }
}

/** @throws CommandFailure, which repeats nothing of the URL */
function addressOf(url: string, file: PasswordFile | undefined): DatabaseAddress {
  const password = passwordOf(url, file)
  try {
    return parseDatabase(url, password === '' ? undefined : password)
  } catch (error) {
    if (error instanceof ApiError) {
      throw usage(`--store: ${expectedBy(error)}`)
    }
    throw usage('--store: the file of sslrootcert cannot be read: check its path, owner and mode')
  }
}

/** @param store the store folder */
export const isStoreInDatabase = (store: string): boolean => existsSync(join(store, 'database'))

/** True if the store of a data folder is in a database. */
export const isInDatabase = (data: string): boolean => isStoreInDatabase(pathsOf(data).store)

/** @throws CommandFailure if the store is in a database, for operations that this cannot do */
export function assertOwnStore(data: string, instead: string): void {
  if (isInDatabase(data)) throw new CommandFailure(`the vault is in a database: ${instead}`)
}

function parsedPlace(text: string): DatabasePlace | undefined {
  try {
    const place: unknown = JSON.parse(text)
    return Value.Check(placeSchema, place) ? place : undefined
  } catch {
    return undefined
  }
}

function readPlace(data: string): DatabasePlace {
  const bytes = readRegular(pathsOf(data).database, folderFileBytesMax)
  const place = bytes && parsedPlace(bytes.toString('utf8'))
  if (place === undefined) {
    throw new CommandFailure(`the file store/database in ${data} is damaged: make the folder anew`)
  }
  return place
}

const writePlace = (data: string, place: DatabasePlace): void =>
  replaceFile(pathsOf(data).database, `${JSON.stringify(place)}\n`)

/** Path of the password file that a folder remembers. @throws CommandFailure */
export const passwordFileOf = (data: string): string | undefined =>
  isInDatabase(data) ? readPlace(data).password_file : undefined

const fileIn = (data: string, path: string): PasswordFile => ({ path, rememberedBy: data })

/** @param passwordFile replaces the one that the folder names. @throws CommandFailure */
export function readDatabase(data: string, passwordFile?: string): DatabaseAddress {
  const { url, password_file: remembered } = readPlace(data)
  if (passwordFile !== undefined) return addressOf(url, { path: passwordFile })
  return addressOf(url, remembered === undefined ? undefined : fileIn(data, remembered))
}

/**
 * The place of the rows of a data folder.
 * @param store the store folder, which may be a copy of the data folder's own
 * @throws CommandFailure
 */
export const storePlaceOf = (data: string, store: string, passwordFile?: string): StorePlace =>
  isStoreInDatabase(store) ? { database: readDatabase(data, passwordFile) } : { folder: store }

/** True if a folder belongs to the database with this URL. @throws CommandFailure */
export const isOfDatabase = (data: string, url: string): boolean =>
  readPlace(data).url === withoutPassword(url)

/** True if a move into this folder has begun. @throws CommandFailure */
export const isMover = (data: string): boolean => readPlace(data).mover !== undefined

/** The database's id of a folder that takes the vault, kept until the move is done. */
export function moverOf(data: string): Uint8Array {
  const place = readPlace(data)
  if (place.mover !== undefined) return bytesOfHex(place.mover)
  const mover = randomBytes(moverBytes)
  writePlace(data, { ...place, mover: hexOf(mover) })
  return mover
}

/** @throws CommandFailure if the folder belongs to another database, or the URL is invalid */
export function assertSameDatabase(data: string, { store }: DatabaseOptions): void {
  if (store === undefined) return
  if (!isInDatabase(data)) {
    throw new CommandFailure(`${data} has a store of its own: choose another folder with --data`)
  }
  if (isOfDatabase(data, store)) return
  throw new CommandFailure(
    `${data} is of another database: choose another folder with --data, ` +
      'or, where that database has moved, write its new URL into store/database',
  )
}

function placeOf({ store = '', storePasswordFile }: DatabaseOptions) {
  const file = storePasswordFile === undefined ? undefined : resolve(storePasswordFile)
  return { url: withoutPassword(store), file }
}

const namedFile = (path: string | undefined): PasswordFile | undefined =>
  path === undefined ? undefined : { path }

/** @throws CommandFailure */
export function databaseAddress(options: DatabaseOptions): DatabaseAddress {
  const { url, file } = placeOf(options)
  return addressOf(url, namedFile(file))
}

/** Makes the folder remember the given password file. @throws CommandFailure */
function rememberPassword(data: string, { storePasswordFile }: DatabaseOptions): void {
  if (storePasswordFile === undefined || !isInDatabase(data)) return
  const known = readPlace(data)
  const file = resolve(storePasswordFile)
  if (known.password_file === file) return
  addressOf(known.url, { path: file })
  try {
    writePlace(data, { ...known, password_file: file })
  } catch {
    const place = `store/database of ${data}`
    throw new CommandFailure(`--store-password-file is not that of ${place}, which takes no writes`)
  }
}

/** Applies the given options to an existing folder. @throws CommandFailure */
export function rejoinDatabase(data: string, options: DatabaseOptions): void {
  assertSameDatabase(data, options)
  rememberPassword(data, options)
}

/** @returns the address, once it is on disk. @throws CommandFailure */
export function writeDatabase(data: string, options: DatabaseOptions): DatabaseAddress {
  const { url, file } = placeOf(options)
  const address = addressOf(url, namedFile(file))
  writePlace(data, { url, ...(file === undefined ? {} : { password_file: file }) })
  return address
}

/**
 * A note of a database that has a copy is the only one: another move would write over it.
 * @throws CommandFailure if the folder notes another database than the given one
 */
export function assertNoOtherLeft(data: string, options: DatabaseOptions): void {
  const { databaseLeft } = pathsOf(data)
  if (!existsSync(databaseLeft)) return
  const bytes = readRegular(databaseLeft, folderFileBytesMax)
  if (parsedPlace(bytes?.toString('utf8') ?? '')?.url === placeOf(options).url) return
  throw new CommandFailure(
    `${databaseLeft} names another database that has a copy of this vault: ` +
      'drop its schema there, remove that file, and then move',
  )
}

/** Notes in a folder which database is about to get a copy of its vault. */
export const noteDatabase = (data: string, options: DatabaseOptions): void =>
  replaceFile(pathsOf(data).databaseLeft, `${JSON.stringify({ url: placeOf(options).url })}\n`)

const advice: Readonly<Record<DatabaseError['kind'], string>> = {
  lost: 'does not answer, or takes no writes: is it up, and is it the primary?',
  certificate: 'shows a certificate that cannot be verified: see sslrootcert, and its host name',
  again: 'is busy with another: try again',
  full: 'has no space left: make some',
  rights: 'refuses this user: see its password and its grants',
  missing: 'has no vault, or not all of its tables: make one with coffer init --store',
  other: 'said something that is not known',
}

/** Advice if the database gave an SQLSTATE. Source: PostgreSQL, "Error Codes". */
const adviceByState: Readonly<Record<string, string>> = {
  '25006': 'takes no writes: it is a standby, or set to be read alone',
  '08P01': 'refuses the settings of a session: behind PgBouncer add pgbouncer=true to its URL',
  '28P01': 'refuses the password of this user',
  '28000': 'refuses this user, or a connection of this kind: see its pg_hba.conf',
  '3D000': 'is not there: make it with CREATE DATABASE, then a vault with coffer init --store',
  '42P06': 'has that schema already, and no vault in it: name another by schema= in the URL',
  '53300': `has no connection left for this user: a vault takes up to ${vaultConnections}`,
  '57014': 'ends what takes longer than its statement_timeout: make that 30 s or more',
}

const vaultFaults: Readonly<Partial<Record<ApiError['kind'], string>>> = {
  not_found: 'has no vault: make one with coffer init --store',
  storage_corrupt: 'has tables that contradict each other: see coffer verify',
  unavailable: advice.lost,
}

function adviceOf(error: unknown): string | undefined {
  const cause = error instanceof ApiError ? error.cause : databaseErrorOf(error)
  if (cause instanceof DatabaseError) {
    const { kind, state } = cause
    if (state === undefined) return advice[kind]
    return `${adviceByState[state] ?? advice[kind]} (SQLSTATE ${state})`
  }
  if (!(error instanceof ApiError)) return undefined
  return error.kind === 'conflict' ? error.message : vaultFaults[error.kind]
}

/** Turns an error of a database into one line for a person. */
export function explainDatabase(address: DatabaseAddress, error: unknown): unknown {
  if (error instanceof CommandFailure) return error
  const said = adviceOf(error)
  if (said === undefined) return error
  const line = `the database ${printDatabase(address)}`
  const isSentence = error instanceof ApiError && error.kind === 'conflict'
  return new CommandFailure(`${line}${isSentence ? ':' : ''} ${said}`, 1, error)
}

/** Picks the options that name the database. */
export const databaseOf = ({ store, storePasswordFile }: DatabaseOptions): DatabaseOptions => ({
  ...(store === undefined ? {} : { store }),
  ...(storePasswordFile === undefined ? {} : { storePasswordFile }),
})

/** Logs events of a served database. */
export const databaseEvents = (
  log: Log,
): Pick<OpenStoreOptions, 'onSkew' | 'onFoldFailure' | 'onLeaseRefusal' | 'onLoss'> => ({
  onSkew: (skewMs, isRight) =>
    isRight ? log('clock_right') : log('clock_off', { ahead_ms: Math.round(skewMs) }),
  onFoldFailure: state => log('fold_failed', state === undefined ? {} : { state }),
  onLeaseRefusal: state => log('lease_refused', state === undefined ? {} : { state }),
  onLoss: () => log('writes_lost'),
})
