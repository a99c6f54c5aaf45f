/**
 * Access to files that hold a secret.
 * @module
 */
import type { Stats } from 'node:fs'
import { FFIType, ptr } from 'bun:ffi'
import { isGroupOf, readGroupFiles } from '../folder/groups.ts'
import { findInLibc } from '../../lib/libc.ts'

const root = 0

/**
 * True if others can read a secret in a file. Root may let a group read its own files, as
 * Kubernetes and Swarm do with mounted secrets; another owner only a group without other users, and
 * no access control list.
 * @param path of that file
 */
export function isSecretOpen(
  { mode, uid, gid }: Pick<Stats, 'mode' | 'uid' | 'gid'>,
  path: string,
  user = process.geteuid?.() ?? root,
): boolean {
  if ((uid !== root && uid !== user) || (mode & 0o037) !== 0) return true
  if (uid === root || (mode & 0o040) === 0) return false
  return hasAccessList(path) || !isGroupOf(gid, user, readGroupFiles())
}

/*
 * Access control lists of files, beside owner and mode: if a file has one, the group bits of its
 * mode are the most that the list grants, which may be to any user.
 * Source: acl(5); getxattr(2).
 */

const getxattr = {
  args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64],
  returns: FFIType.i64,
} as const

const textOf = (text: string): Buffer => Buffer.from(`${text}\0`)

/** Follows a link. If the platform or the file system cannot tell, there is no list. */
export function hasAccessList(path: string): boolean {
  if (process.platform !== 'linux') return false
  const libc = findInLibc({ getxattr })
  const name = textOf('system.posix_acl_access')
  return Number(libc?.getxattr(ptr(textOf(path)), ptr(name), null, 0) ?? 0) > 0
}
