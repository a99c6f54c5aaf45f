/**
 * Backups of an earlier time: a vault's master key opens them, and what they hold is no database.
 * @module
 */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newBackupKey, writeBackup } from '../../src/server/backup/backup-file.ts'
import { backupNameOf } from '../../src/server/backup/backup-place.ts'
import { formatVersion } from '../../src/server/folder/folder-stamp.ts'
import { temporaryFolder } from './folders.ts'

/**
 * @param masterKey path of the key in hexadecimal digits
 * @param instantMs of its making, Unix time
 * @returns its name
 */
export function writeDatedBackup(folder: string, masterKey: string, instantMs: number): string {
  const name = backupNameOf(instantMs)
  const contents = join(temporaryFolder(), 'contents')
  writeFileSync(contents, name)
  const key = Buffer.from(readFileSync(masterKey, 'latin1').trim(), 'hex')
  const created_at = new Date(instantMs).toISOString()
  const manifest = { format: formatVersion, coffer: '0', created_at, bytes: name.length, rows: {} }
  writeBackup(join(folder, name), newBackupKey(key, randomBytes), manifest, contents)
  return name
}
