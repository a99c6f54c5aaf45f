/**
 * Who may read a file that holds a secret.
 * @module
 */
import type { Stats } from 'node:fs'
import { hasAccessList } from '../folder/access-lists.ts'
import { isGroupOf, readGroupFiles } from '../folder/group-members.ts'

const root = 0

/**
 * Whether a secret in a file is one of others too. Root may let a group read what is root's, as
 * Kubernetes and Swarm do with the secrets that they mount; anybody else a group that no other user
 * is in, and no list of access beside the mode.
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
