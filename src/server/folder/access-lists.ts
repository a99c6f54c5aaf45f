/**
 * Access control lists of files, beside owner and mode: if a file has one, the group bits of its
 * mode are the most that the list grants, which may be to any user.
 * Source: acl(5); getxattr(2).
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { findInLibc } from '../../lib/libc.ts'

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
