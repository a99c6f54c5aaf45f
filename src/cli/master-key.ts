/**
 * The master key as a file: 64 hexadecimal digits, readable by its owner only.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { hexOf } from '../bytes.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'

const keyPattern = /^[0-9a-f]{64}\n?$/
const ownerOnly = 0o600

export function writeMasterKey(path: string, masterKey: Uint8Array): void {
  writeFileSync(path, hexOf(masterKey) + '\n', { mode: ownerOnly, flag: 'wx', flush: true })
}

/** @throws CommandFailure when the file is missing, unreadable or not a master key */
export function readMasterKey(path: string): Uint8Array {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch (error) {
    const reason = systemCodeOf(error) === 'ENOENT' ? 'is missing' : 'cannot be read'
    throw new CommandFailure(`the master key file ${reason}: put it at ${path}`)
  }
  if (!keyPattern.test(text)) {
    throw new CommandFailure(`the file at ${path} is not a master key: expected 64 hex digits`)
  }
  return Uint8Array.from(Buffer.from(text.slice(0, 64), 'hex'))
}
