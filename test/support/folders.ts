/**
 * Temporary folders that are removed with their process.
 *
 * Not with a test file: several files share one process, and a hook runs for the first of them.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true })
}

// A process that runs no tests needs this; for one that does, see `after-all-tests.ts`.
process.on('exit', removeTemporaryFolders)

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-test-'))
  made.push(folder)
  return folder
}
