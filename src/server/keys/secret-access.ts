/**
 * Access to files that hold a secret.
 * @module
 */
import type { Stats } from 'node:fs'
import { hasAccessList } from '../folder/access-lists.ts'
import { isGroupOf, readGroupFiles } from '../folder/group-members.ts'

const root = 0

/**
 * True if others can read a secret in a file. Root may let a group read its own files, as
 * Kubernetes and Swarm do with mounted secrets; another owner only a group without other users, and
 * no access control list.
 * @param path of that file
 */
export function isOpenToOthers(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  path: string,
  user = process.geteuid?.() ?? root,
): boolean {
  if ((uid !== root && uid !== user) || (mode & 0o037) !== 0) return true
  if (uid === root || (mode & 0o040) === 0) return false
  return hasAccessList(path) || !isGroupOf(gid, user, readGroupFiles())
}
