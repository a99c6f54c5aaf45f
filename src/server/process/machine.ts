/**
 * Checks of the machine before a vault is opened: cryptographic primitives that compute correctly,
 * and enough address space to map the database.
 *
 * @module
 */
import { readFileSync } from 'node:fs'
import { findBrokenPart } from '../../crypto/self-test.ts'
import { addressSpaceSpareBytes, mapBytes } from '../../limits/operation-limits.ts'
import { CommandFailure } from './failure.ts'

const limitPattern = /^Max address space\s+([0-9]+)\s/m
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

/** @throws CommandFailure before anything is opened, sealed or written */
export function assertMachine(): void {
  const broken = findBrokenPart()
  if (broken !== undefined) {
    throw new CommandFailure(`the self-test of ${broken} failed: use another build or machine`)
  }
  assertAddressSpace()
}
