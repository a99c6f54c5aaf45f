/**
 * A data folder whose store is in a database of others: the file `store/database` says which one,
 * as JSON `{"url": …, "password_file": …}`. The password is never in it.
 *
 * The folder is then what one machine needs to serve: the lock, the control socket, and the master
 * key where none of the options names another place of it. Others serve the same database from
 * folders of their own.
 * @module
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Log } from '../../deps.ts'
import { ApiError, expectedBy } from '../../lib/errors.ts'
import { bytesOfHex, hexOf } from '../../lib/bytes.ts'
import { readRegular } from '../../lib/files.ts'
import { folderFileBytesMax, passwordFileBytesMax } from '../../limits/operation-limits.ts'
import { databaseSetupMsMax, vaultConnections } from '../../store/core/limits.ts'
import { parseDatabase, printDatabase, type DatabaseAddress } from '../../store/postgres/address.ts'
import { openPostgresStore, type PostgresStore } from '../../store/postgres/postgres-store.ts'
import { openPool, type Pool } from '../../store/postgres/pool.ts'
import {
  dropTables,
  hasRows,
  makeTables,
  readFormat,
  tablesIn,
} from '../../store/postgres/schema.ts'
import { DatabaseError, databaseErrorOf } from '../../store/postgres/database-error.ts'
import { CommandFailure, usageExitCode } from '../process/failure.ts'
import { pathsOf } from './folder-stamp.ts'
import { replaceFile } from './regular-files.ts'
import { elapsedMs, randomBytes, wallMs } from '../process/system.ts'

/** What commands are told of it. */
export interface DatabaseOptions {
  /** A URL of PostgreSQL. */
  readonly store?: string
  readonly storePasswordFile?: string
}

const moverBytes = 16

const placeSchema = Type.Object({
  url: Type.String(),
  password_file: Type.Optional(Type.String()),
  /** While the vault moves into this folder: what the database knows the folder by. */
  mover: Type.Optional(Type.String({ pattern: '^[0-9a-f]{32}$' })),
})

type DatabasePlace = Static<typeof placeSchema>

/** A URL with no password, so that two of them can be compared. */
function withoutPassword(text: string): string {
  if (!URL.canParse(text)) return text
  const url = new URL(text)
  url.password = ''
  return url.href
}

/** More than once, and by each process that serves: a pipe would give it to the first alone. */
function readPassword(file: string): string {
  let bytes: Buffer | undefined
  try {
    bytes = readRegular(file, passwordFileBytesMax)
  } catch {
    throw new CommandFailure('the file of --store-password-file cannot be read')
  }
  if (bytes !== undefined) return bytes.toString('utf8').replace(/\r?\n$/, '')
  const expected = `expected a regular file of at most ${passwordFileBytesMax} bytes`
  throw new CommandFailure(`the file of --store-password-file: ${expected}`)
}

/** The environment alone may bring one in the URL: arguments are for every user to read. */
function passwordOf(url: string, file: string | undefined): string | undefined {
  if (file !== undefined) {
    return readPassword(file)
  }
  const given = process.env['COFFER_STORE']
  if (given === undefined || withoutPassword(given) !== url) return undefined
  try {
    return decodeURIComponent(new URL(given).password)
  } catch {
    throw new CommandFailure('COFFER_STORE: expected escapes of UTF-8', usageExitCode)
  }
}

/** @throws CommandFailure that repeats nothing of the URL */
function addressOf(url: string, file: string | undefined): DatabaseAddress {
  const password = passwordOf(url, file)
  try {
    return parseDatabase(url, password === '' ? undefined : password)
  } catch (error) {
    if (error instanceof ApiError) {
      throw new CommandFailure(`--store: ${expectedBy(error)}`, usageExitCode)
    }
    throw new CommandFailure('--store: the file of sslrootcert cannot be read', usageExitCode)
  }
}

/** @param store the folder of the store */
export const isStoreInDatabase = (store: string): boolean => existsSync(join(store, 'database'))

/** Whether the store of a data folder is in a database. */
export const isInDatabase = (data: string): boolean => isStoreInDatabase(pathsOf(data).store)

/** @throws CommandFailure for what only a store of the folder's own can do */
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

/** The file that a folder remembers for the password. @throws CommandFailure */
export const passwordFileOf = (data: string): string | undefined =>
  isInDatabase(data) ? readPlace(data).password_file : undefined

/** @param passwordFile in place of the one that is written there. @throws CommandFailure */
export function readDatabase(data: string, passwordFile?: string): DatabaseAddress {
  const { url, password_file: file } = readPlace(data)
  return addressOf(url, passwordFile ?? file)
}

/** Whether a folder is of the database of this URL. @throws CommandFailure */
export const isOfDatabase = (data: string, url: string): boolean =>
  readPlace(data).url === withoutPassword(url)

/** Whether a move into this folder has begun. @throws CommandFailure */
export const isMover = (data: string): boolean => readPlace(data).mover !== undefined

/** What the database knows a folder by that takes the vault; it is kept until that is done. */
export function moverOf(data: string): Uint8Array {
  const place = readPlace(data)
  if (place.mover !== undefined) return bytesOfHex(place.mover)
  const mover = randomBytes(moverBytes)
  writePlace(data, { ...place, mover: hexOf(mover) })
  return mover
}

/** @throws CommandFailure where the folder is of another database, or the URL is none */
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

/** @throws CommandFailure */
export function databaseAddress(options: DatabaseOptions): DatabaseAddress {
  const { url, file } = placeOf(options)
  return addressOf(url, file)
}

/** From here on the folder goes by the file that is given. @throws CommandFailure */
function rememberPassword(data: string, { storePasswordFile }: DatabaseOptions): void {
  if (storePasswordFile === undefined || !isInDatabase(data)) return
  const known = readPlace(data)
  const file = resolve(storePasswordFile)
  if (known.password_file === file) return
  addressOf(known.url, file)
  try {
    writePlace(data, { ...known, password_file: file })
  } catch {
    const place = `store/database of ${data}`
    throw new CommandFailure(`--store-password-file is not that of ${place}, which takes no writes`)
  }
}

/** Of a folder that is there: what is given counts. @throws CommandFailure */
export function rejoinDatabase(data: string, options: DatabaseOptions): void {
  assertSameDatabase(data, options)
  rememberPassword(data, options)
}

/** @returns the address, once it is written. @throws CommandFailure */
export function writeDatabase(data: string, options: DatabaseOptions): DatabaseAddress {
  const { url, file } = placeOf(options)
  const address = addressOf(url, file)
  writePlace(data, { url, ...(file === undefined ? {} : { password_file: file }) })
  return address
}

/** Says in a folder which database gets a copy of what is in it, before it does. */
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

/** Where the database has said more. Source: PostgreSQL, "Error Codes". */
const adviceByState: Readonly<Record<string, string>> = {
  '25006': 'takes no writes: it is a standby, or set to be read alone',
  '08P01': 'refuses the settings of a session: behind PgBouncer add pgbouncer=true to its URL',
  '28P01': 'refuses the password of this user',
  '28000': 'refuses this user, or a connection of this kind: see its pg_hba.conf',
  '3D000': 'is not there: make it with CREATE DATABASE, then a vault with coffer init --store',
  '42P06':
    'has that schema already, and no vault in it: drop it, or name another by schema= in the URL',
  '53300': `has no connection left for this user: a vault takes up to ${vaultConnections}`,
  '57014': 'ends what takes longer than its statement_timeout: make that 30 s or more',
}

const vaultFaults: Readonly<Partial<Record<ApiError['kind'], string>>> = {
  not_found: 'has no vault: make one with coffer init --store',
  storage_corrupt: 'has tables that contradict each other: see coffer verify',
  unavailable: advice.lost,
}

function adviceOf(error: unknown): string | undefined {
  const trouble = error instanceof ApiError ? error.cause : databaseErrorOf(error)
  if (trouble instanceof DatabaseError) {
    const { kind, state } = trouble
    if (state === undefined) return advice[kind]
    return `${adviceByState[state] ?? advice[kind]} (SQLSTATE ${state})`
  }
  if (!(error instanceof ApiError)) return undefined
  return error.kind === 'conflict' ? error.message : vaultFaults[error.kind]
}

/** One line for a person, of whatever a database said. */
export function explainDatabase(address: DatabaseAddress, error: unknown): unknown {
  if (error instanceof CommandFailure) return error
  const said = adviceOf(error)
  if (said === undefined) return error
  const line = `the database ${printDatabase(address)}`
  const isSentence = error instanceof ApiError && error.kind === 'conflict'
  return new CommandFailure(`${line}${isSentence ? ':' : ''} ${said}`, 1, error)
}

/** Of the options of a command, those that say which database. */
export const databaseOf = ({ store, storePasswordFile }: DatabaseOptions): DatabaseOptions => ({
  ...(store === undefined ? {} : { store }),
  ...(storePasswordFile === undefined ? {} : { storePasswordFile }),
})

export interface DatabaseUse {
  readonly onSkew?: ((skewMs: number, isRight: boolean) => void) | undefined
  readonly onFoldTrouble?: ((state: string | undefined) => void) | undefined
}

/** What is logged of a database that is served. */
export const databaseUse = (log: Log): DatabaseUse => ({
  onSkew: (skewMs, isRight) =>
    isRight ? log('clock_right') : log('clock_off', { ahead_ms: Math.round(skewMs) }),
  onFoldTrouble: state => log('fold_failed', state === undefined ? {} : { state }),
})

/** @throws CommandFailure */
export async function openDatabase(
  address: DatabaseAddress,
  { onSkew = () => {}, onFoldTrouble = () => {} }: DatabaseUse = {},
): Promise<PostgresStore> {
  try {
    const machine = { randomBytes, wallMs, elapsedMs }
    return await openPostgresStore({ address, ...machine, onSkew, onFoldTrouble })
  } catch (error) {
    throw explainDatabase(address, error)
  }
}

async function prepare(pool: Pool, address: DatabaseAddress): Promise<boolean> {
  const tables = tablesIn(address.schema)
  if ((await readFormat(pool, tables)) === undefined) {
    await makeTables(pool, tables, databaseSetupMsMax)
    return true
  }
  if (await hasRows(pool, tables)) throw new ApiError('conflict', 'the database has a vault')
  return false
}

/**
 * Tables for a new vault, which are made where there are none.
 * @returns what takes them away again, where this made them
 * @throws CommandFailure where there is a vault
 */
export async function prepareDatabase(
  address: DatabaseAddress,
): Promise<(isOurs: boolean) => Promise<void>> {
  const pool = openPool(address, 1)
  try {
    const isMade = await prepare(pool, address)
    return async isOurs => {
      if (!isMade) return
      const again = openPool(address, 1)
      await dropTables(again, tablesIn(address.schema), isOurs).finally(() => again.close())
    }
  } catch (error) {
    throw explainDatabase(address, error)
  } finally {
    await pool.close()
  }
}
