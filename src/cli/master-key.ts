/**
 * The master key as a file: 64 hexadecimal digits, readable by its owner only.
 *
 * @module
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { hexOf } from '../bytes.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'

const keyPattern = /^[0-9a-f]{64}\n?$/
const ownerOnly = 0o600

/** @throws CommandFailure when it cannot be written there */
export function writeMasterKey(path: string, masterKey: Uint8Array): void {
  try {
    writeFileSync(path, hexOf(masterKey) + '\n', { mode: ownerOnly, flag: 'wx', flush: true })
  } catch {
    throw new CommandFailure(`cannot write the master key to ${path}: check that its folder exists`)
  }
}

/** @throws CommandFailure when the file is missing, unreadable, open to others or not a key */
export function readMasterKey(path: string): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch (error) {
    const reason = systemCodeOf(error) === 'ENOENT' ? 'is missing' : 'cannot be read'
    throw new CommandFailure(`the master key file ${reason}: put it at ${path}`)
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new CommandFailure(`the master key at ${path} is open to others: chmod 600 it`)
  }
  if (!keyPattern.test(text)) {
    throw new CommandFailure(`the file at ${path} is not a master key: expected 64 hex digits`)
  }
  return Uint8Array.from(Buffer.from(text.slice(0, 64), 'hex'))
}
