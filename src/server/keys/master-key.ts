/**
 * The file of a master key: 64 hexadecimal digits, readable by its owner only.
 *
 * It never becomes a JavaScript string, which cannot be wiped: digits and key are bytes of this
 * module, which wipes the digits before it returns; the caller wipes the key.
 * @module
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ownBytes, readHex, writeHex } from '../../lib/bytes.ts'
import { primitives } from '../../crypto/primitives.ts'
import { syncFolder } from '../../lib/files.ts'
import { CommandFailure, systemCodeOf } from '../process/failure.ts'
import { isOutOfRoom } from '../folder/disk-space.ts'
import { mayItsOwnerRead } from '../folder/may-read.ts'
import { giveToOwnerOf, openNewFile } from '../folder/regular-files.ts'
import { isSecretOpen } from './secret-access.ts'

export const masterKeyBytes = 32
const digitCount = 2 * masterKeyBytes
const lineEnd = 0x0a
const carriageReturn = 0x0d

/** Returns the digits of a key and a line end; the caller wipes them. */
export function encodeMasterKey(masterKey: Uint8Array): Uint8Array {
  const line = ownBytes(digitCount + 1).fill(lineEnd)
  writeHex(line, 0, masterKey)
  return line
}

function withoutLineEnd(line: Uint8Array): Uint8Array {
  if (line.at(-1) !== lineEnd) return line
  return line.subarray(0, line.at(-2) === carriageReturn ? -2 : -1)
}

/** Editors and other programs may write capitals, and either kind of line end. */
function lowerLetters(line: Uint8Array): Uint8Array {
  const lower = ownBytes(line.length)
  for (const [at, byte] of line.entries())
    lower[at] = byte >= 0x41 && byte <= 0x46 ? byte | 0x20 : byte
  return lower
}

/** @returns the key, in locked memory if possible; `undefined` if it is not one */
export function decodeMasterKey(line: Uint8Array): Uint8Array | undefined {
  const digits = lowerLetters(withoutLineEnd(line))
  const key = ownBytes(masterKeyBytes)
  const isKey = digits.length === digitCount && readHex(digits, key)
  digits.fill(0)
  if (isKey) return primitives.keep(key)
  key.fill(0)
  return undefined
}

/** A partial key would look like a damaged one, so the file is emptied. */
function writeOrEmpty(file: number, line: Uint8Array, ownerOf: string | undefined): void {
  try {
    if (ownerOf !== undefined) giveToOwnerOf(ownerOf, file)
    if (writeSync(file, line) < line.length) throw new Error('the disk took a part')
    fsyncSync(file)
  } catch (error) {
    ftruncateSync(file)
    throw error
  }
}

/**
 * Writes a key to a new file, or to an empty one left by an interrupted command.
 * @param ownerOf a file or folder whose owner gets the key file
 * @throws CommandFailure if any other file exists, or it cannot be written
 */
export function writeMasterKey(path: string, masterKey: Uint8Array, ownerOf?: string): void {
  const line = encodeMasterKey(masterKey)
  try {
    const made = openNewFile(path)
    if (made === undefined) {
      const found = `something is at ${path} that is no empty file of this user, and stays as it is`
      throw new CommandFailure(`${found}: choose another --master-key-file`)
    }
    try {
      writeOrEmpty(made.file, line, ownerOf)
    } finally {
      closeSync(made.file)
    }
    syncFolder(dirname(resolve(path)))
  } catch (error) {
    if (error instanceof CommandFailure) throw error
    const advice = isOutOfRoom(error) ? 'make room on its disk' : 'check that its folder exists'
    throw new CommandFailure(`cannot write the master key to ${path}: ${advice}`)
  } finally {
    line.fill(0)
  }
}

const root = 0

/** decision: root acts for the owner of a vault, who also owns its key. */
const isOpenKey = (stats: Stats, path: string): boolean =>
  isSecretOpen(stats, path, process.geteuid?.() === root ? stats.uid : undefined)

/**
 * systemd gives a root-owned credential to a user by an access control list, whose mask then shows
 * as the group bits of the mode (acl(5)); its folder lets nobody else in.
 */
const isOpenCredential = ({ mode }: Stats): boolean => (mode & 0o037) !== 0

/** Root reads no key for the owner of a folder that this user could not read. */
function isOpenKeyBeside(stats: Stats, path: string): boolean {
  if (mayItsOwnerRead(path, stats)) return isOpenKey(stats, path)
  throw new CommandFailure(
    `the owner of ${dirname(path)} may not read the master key that is there: name it by ` +
      '--master-key-file, or run this as that user',
  )
}

type IsOpen = (stats: Stats, path: string) => boolean

/** @param line one byte longer than a key @returns the number of bytes read */
function readLine(path: string, line: Uint8Array, isOpen: IsOpen): number {
  // Without O_NONBLOCK, a pipe would block the whole process until it has a writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) {
      throw new CommandFailure(`the master key at ${path} is no file: put it into one`)
    }
    if (isOpen(stats, path)) {
      const way = 'chown it, and chmod 600 it'
      throw new CommandFailure(`the master key at ${path} is of others or open to them: ${way}`)
    }
    return readSync(file, line, 0, line.length, 0)
  } finally {
    closeSync(file)
  }
}

function explained(error: unknown, path: string): unknown {
  const code = systemCodeOf(error)
  if (code === undefined) return error
  const reason = code === 'ENOENT' ? 'is missing' : 'cannot be read'
  const way = `put it at ${path}, or say where it is, such as by --master-key-file`
  return new CommandFailure(`the master key file ${reason}: ${way}`)
}

function readFrom(path: string, isOpen: IsOpen): Uint8Array {
  const line = ownBytes(digitCount + 3)
  try {
    const length = readLine(path, line, isOpen)
    const key = decodeMasterKey(line.subarray(0, length))
    if (key !== undefined) return key
    throw new CommandFailure(`the file at ${path} is not a master key: expected 64 hex digits`)
  } catch (error) {
    throw explained(error, path)
  } finally {
    line.fill(0)
  }
}

/**
 * @returns a key that the caller wipes
 * @throws CommandFailure if the file is missing, unreadable, open to others or not a key
 */
export const readMasterKey = (path: string): Uint8Array => readFrom(path, isOpenKey)

/** Like `readMasterKey`, for a file that no operator has named, but the owner of its folder. */
export const readMasterKeyBeside = (path: string): Uint8Array => readFrom(path, isOpenKeyBeside)

/** Like `readMasterKey`, for a file of systemd. Source: systemd.exec(5), credentials. */
export const readCredential = (path: string): Uint8Array => readFrom(path, isOpenCredential)
