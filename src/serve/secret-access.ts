/**
 * Who may read a file that holds a secret.
 * @module
 */
import type { Stats } from 'node:fs'
import { isGroupOf, readGroupFiles } from './group-members.ts'

const root = 0

/**
 * Whether a secret in a file is one of others too. Root may let a group read what is root's, as
 * Kubernetes and Swarm do with the secrets that they mount; anybody else a group that no other user
 * is in.
 */
export function isOpenToOthers(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  user = process.geteuid?.() ?? root,
): boolean {
  if ((uid !== root && uid !== user) || (mode & 0o037) !== 0) return true
  if (uid === root || (mode & 0o040) === 0) return false
  return !isGroupOf(gid, user, readGroupFiles())
}
