/**
 * Failures of a command: one line on stderr that says what to do, and an exit code.
 *
 * @module
 */

/** 0 is success. From 3 on, they are for commands that call a vault as a client. */
export type ExitCode = 1 | 2 | 3 | 4 | 5 | 6 | 7

/** For an invalid command line, setting or environment. */
export const usageExitCode = 2

/** 1: it could not be done. 2: the command line is wrong. For others see `cli/reach.ts`. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode

  /** @param cause the system's error, for a log */
  constructor(message: string, exitCode: ExitCode = 1, cause?: unknown) {
    super(message, { cause })
    this.name = 'CommandFailure'
    this.exitCode = exitCode
  }
}

/** The command line, stdin or a setting is wrong, and nothing was tried. */
export const usage = (message: string, cause?: unknown): CommandFailure =>
  new CommandFailure(message, usageExitCode, cause)

/** The code of a failed system call: `ENOENT`, `EACCES` …; `undefined` for every other error. */
export function systemCodeOf(error: unknown): string | undefined {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

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

/** The meaning of a common code of a file's system call, which nobody has to know. */
export const meaningOf = (code: string): string | undefined => meanings[code]
