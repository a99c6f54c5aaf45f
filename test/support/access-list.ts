/**
 * Access control lists beside the mode of a file (acl(5)), in the form that `setfacl` writes.
 * @module
 */
import { FFIType, ptr } from 'bun:ffi'
import { findInLibc } from '../../src/lib/libc.ts'
import { temporaryFolder } from './folders.ts'

const setxattr = {
  args: [FFIType.ptr, FFIType.ptr, FFIType.ptr, FFIType.u64, FFIType.i32],
  returns: FFIType.i32,
} as const

const nobody = 0xffff_ffff
const [owner, user, group, mask, others] = [1, 2, 4, 16, 32] as const

/**
 * Gives the owner and a user the same rights, and nobody else any.
 * @param rights 4 to read, 2 to write, 1 to enter
 * @returns true if the file system keeps such lists
 */
export function giveByList(path: string, uid: number, rights: number): boolean {
  const entries = [
    [owner, rights, nobody],
    [user, rights, uid],
    [group, 0, nobody],
    [mask, rights, nobody],
    [others, 0, nobody],
  ] as const
  const list = Buffer.alloc(4 + 8 * entries.length)
  list.writeUInt32LE(2)
  for (const [at, [tag, may, id]] of entries.entries()) {
    list.writeUInt16LE(tag, 4 + 8 * at)
    list.writeUInt16LE(may, 6 + 8 * at)
    list.writeUInt32LE(id, 8 + 8 * at)
  }
  const texts = [path, 'system.posix_acl_access'].map(text => Buffer.from(`${text}\0`))
  const [file, name] = texts.map(text => ptr(text))
  if (file === undefined || name === undefined) return false
  return findInLibc({ setxattr })?.setxattr(file, name, ptr(list), list.length, 0) === 0
}

/** Returns true if temporary folders support them. */
export const hasLists = (): boolean => giveByList(temporaryFolder(), 65_530, 7)
