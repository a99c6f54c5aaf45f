/**
 * The master key as a file: 64 hexadecimal digits, readable by its owner only.
 *
 * It never becomes a text of JavaScript, which nothing can wipe: digits and key are bytes of this
 * module's own, the digits wiped before it returns and the key by whoever has used it.
 * @module
 */
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs'
import { primitives } from '../crypto/primitives.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'
import { ownerOnlyFile } from '../files.ts'

const masterKeyBytes = 32
const digitCount = 2 * masterKeyBytes
const lineEnd = 0x0a
const digits = Buffer.from('0123456789abcdef')

/**
 * Bytes that are wiped where they are wiped: of a small array with a buffer that the runtime makes
 * when it is first asked for, it leaves a copy behind.
 */
const ownBytes = (length: number): Buffer => Buffer.from(new ArrayBuffer(length))

/** The digits of a key, with the end of their line. */
function encodeHex(bytes: Uint8Array): Buffer {
  const line = ownBytes(digitCount + 1).fill(lineEnd)
  for (const [at, byte] of bytes.entries()) {
    line[2 * at] = digits[byte >>> 4] ?? 0
    line[2 * at + 1] = digits[byte & 15] ?? 0
  }
  return line
}

/** @returns the key in memory that is locked where possible; `undefined` for what is none */
function decodeHex(line: Uint8Array): Uint8Array | undefined {
  const hasEnd = line.length === digitCount + 1 && line[digitCount] === lineEnd
  if (line.length !== digitCount && !hasEnd) return undefined
  const key = ownBytes(masterKeyBytes)
  for (let at = 0; at < digitCount; at += 1) {
    const value = digits.indexOf(line[at] ?? 0)
    if (value < 0) return undefined
    key[at >>> 1] = ((key[at >>> 1] ?? 0) << 4) | value
  }
  return primitives.keep(key)
}

/** @throws CommandFailure when it cannot be written there */
export function writeMasterKey(path: string, masterKey: Uint8Array): void {
  const line = encodeHex(masterKey)
  try {
    writeFileSync(path, line, { mode: ownerOnlyFile, flag: 'wx', flush: true })
  } catch {
    throw new CommandFailure(`cannot write the master key to ${path}: check that its folder exists`)
  } finally {
    line.fill(0)
  }
}

/** @param line with room for one byte more than a key has @returns how many bytes were read */
function readLine(path: string, line: Uint8Array): number {
  const file = openSync(path, 'r')
  try {
    if ((fstatSync(file).mode & 0o077) !== 0) {
      throw new CommandFailure(`the master key at ${path} is open to others: chmod 600 it`)
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
  return new CommandFailure(`the master key file ${reason}: put it at ${path}`)
}

/**
 * @returns a key that whoever has used it wipes
 * @throws CommandFailure when the file is missing, unreadable, open to others or not a key
 */
export function readMasterKey(path: string): Uint8Array {
  const line = ownBytes(digitCount + 2)
  try {
    const length = readLine(path, line)
    const key = decodeHex(line.subarray(0, length))
    if (key !== undefined) return key
    throw new CommandFailure(`the file at ${path} is not a master key: expected 64 hex digits`)
  } catch (error) {
    throw explained(error, path)
  } finally {
    line.fill(0)
  }
}
