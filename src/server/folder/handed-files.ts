/**
 * Files that an operator names to a command: a regular one, or the pipe of another command, as a
 * shell makes it for `<(...)`.
 * @module
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { readRegular } from '../../lib/files.ts'
import { lockPollMs, pipeSilenceMsMax, pipeWriterMsMax } from '../../limits/operation-limits.ts'
import { systemCodeOf, usage } from '../process/failure.ts'
import { elapsedMs, sleep } from '../process/system.ts'

/** @returns 0 if the pipe has no writer; `undefined` if its writer has written nothing yet */
function readSome(file: number, bytes: Buffer, at: number): number | undefined {
  try {
    return readSync(file, bytes, at, bytes.length - at, null)
  } catch (error) {
    if (systemCodeOf(error) === 'EAGAIN') return undefined
    throw error
  }
}

/** The writer may open the pipe later than the reader, and may first ask a person. */
function readPipe(file: number, path: string, bytesMax: number): Buffer | undefined {
  const bytes = Buffer.alloc(bytesMax + 1)
  let length = 0
  for (let sinceMs = elapsedMs(); length <= bytesMax;) {
    const count = readSome(file, bytes, length)
    if (count === 0 && length > 0) return bytes.subarray(0, length)
    if (count !== undefined && count > 0) {
      length += count
      sinceMs = elapsedMs()
      continue
    }
    if (elapsedMs() - sinceMs > (count === 0 ? pipeWriterMsMax : pipeSilenceMsMax)) {
      const reason = `${path} is a pipe, and nothing comes through it`
      throw usage(`${reason}: see the command that writes to it`)
    }
    sleep(lockPollMs)
  }
  return undefined
}

/**
 * Reads the whole file.
 * @returns `undefined` if it is neither a regular file nor a pipe, or is larger
 * @throws CommandFailure for a pipe that nobody writes to; else the system's own error
 */
export function readHanded(path: string, bytesMax: number): Buffer | undefined {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (fstatSync(file).isFIFO()) return readPipe(file, path, bytesMax)
  } finally {
    closeSync(file)
  }
  return readRegular(path, bytesMax)
}
