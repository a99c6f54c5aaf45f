/**
 * Programs that `scripts/install-packaging-tools` gets from PyPI.
 * @module
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')

/** @returns the path of the program, or undefined if it is not installed */
export function packagingTool(name: 'nfpm' | 'kubernetes-validate' | 'python'): string | undefined {
  const path = join(cache, 'coffer', 'packaging-1', 'bin', name)
  return existsSync(path) ? path : undefined
}
