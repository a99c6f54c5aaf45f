/**
 * Whether one folder is in another, by whatever links and mounts it is reached.
 * @module
 */
import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { identityOf } from './folder-lock.ts'

/** @param path that is there; @param folder that need not be */
export function isInside(path: string, folder: string): boolean {
  const wanted = identityOf(folder)
  for (let at = realpathSync(path); wanted !== undefined; at = dirname(at)) {
    if (identityOf(at) === wanted) return true
    if (dirname(at) === at) return false
  }
  return false
}
