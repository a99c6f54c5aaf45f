/**
 * Temporary folders that leave with the process that made them.
 *
 * Not with a test file: several files share one process, and a hook runs for the first of them.
 * @module
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const made: string[] = []

process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'coffer-test-'))
  made.push(folder)
  return folder
}
