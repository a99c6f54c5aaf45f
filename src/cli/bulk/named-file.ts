/**
 * Files named on the command line: an error about one names its option.
 * @module
 */
import { systemCodeOf, usage } from '../../server/process/failure.ts'

/** Meanings of common error names, which nobody has to know. */
const meanings: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it',
  EDQUOT: 'this user has no room left on the disk',
  EFBIG: 'it would be longer than ulimit -f (LimitFSIZE) allows',
  EEXIST: 'there is one already: name a new one',
  EISDIR: 'it is a folder',
  ELOOP: 'expected a file that is no link',
  ENOENT: 'there is no such file or folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is no folder',
  EROFS: 'the disk can only be read',
}

/** @throws CommandFailure with the option and the path, instead of an error of the system */
export function withFile<T>(option: string, path: string, use: () => T): T {
  try {
    return use()
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === undefined) throw error
    throw usage(`${option}: ${path}: ${meanings[code] ?? code}`, error)
  }
}
