/**
 * Checks of the machine before a vault is opened: cryptographic primitives that compute correctly,
 * and enough address space and length of files for the database.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { findBrokenPart } from '../../crypto/self-test.ts'
import { addressSpaceSpareBytes, fileSpareBytes, mapBytes } from '../../limits/operation-limits.ts'
import { CommandFailure } from './failure.ts'

const limitPattern = /^Max address space\s+([0-9]+)\s/m
const filePattern = /^Max file size\s+([0-9]+)\s/m
const sizePattern = /^VmSize:\s+([0-9]+) kB$/m

/** Returns `undefined` if the system has no such file, or no number in it. */
function numberIn(file: string, pattern: RegExp): number | undefined {
  try {
    const digits = pattern.exec(readFileSync(file, 'latin1'))?.[1]
    return digits === undefined ? undefined : Number(digits)
  } catch {
    return undefined
  }
}

/** If the database cannot be mapped, the engine crashes instead of failing (hardening H168). */
function assertAddressSpace(): void {
  const limitBytes = numberIn('/proc/self/limits', limitPattern)
  const usedKibibytes = numberIn('/proc/self/status', sizePattern)
  if (limitBytes === undefined || usedKibibytes === undefined) return
  if (limitBytes >= usedKibibytes * 1_024 + mapBytes + addressSpaceSpareBytes) return
  throw new CommandFailure('the address space of the process is limited: lift ulimit -v (LimitAS)')
}

/** Length that this process may give a file, in bytes. */
export const fileBytesMax = (): number => numberIn('/proc/self/limits', filePattern) ?? Infinity

/** If the file of its locks cannot grow, the engine crashes instead of failing (hardening H168). */
function assertFileLength(): void {
  if (fileBytesMax() >= fileSpareBytes) return
  throw new CommandFailure('the length of files is limited: lift ulimit -f (LimitFSIZE)')
}

/** @throws CommandFailure before anything is opened, sealed or written */
export function assertMachine(): void {
  const broken = findBrokenPart()
  if (broken !== undefined) {
    throw new CommandFailure(`the self-test of ${broken} failed: use another build or machine`)
  }
  assertAddressSpace()
  assertFileLength()
}
