/**
 * Tells if one folder is inside another, through any links and mounts.
 * @module
 */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { identityOf } from './folder-lock.ts'

/** @param path must exist @param folder need not exist */
export function isInside(path: string, folder: string): boolean {
  const wanted = identityOf(folder)
  for (let at = realpathSync(path); wanted !== undefined; at = dirname(at)) {
    if (identityOf(at) === wanted) return true
    if (dirname(at) === at) return false
  }
  return false
}
