/**
 * The table of readers of a store that is open: which processes stand in it.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Slots are farther apart, and begin at a multiple of it behind a head of another layout. */
const stepBytes = 16
/** What a slot begins with: the state that is read, u64, then the process, u64. */
const processAt = 8

/**
 * How many slots name a process. Looks at the file alone: the engine itself would clear the table
 * before it tells. @param data the data folder
 */
export function countReaders(data: string, pid: number): number {
  const table = readFileSync(join(data, 'store', 'lock.mdb'))
  let count = 0
  for (let at = 0; at + stepBytes <= table.length; at += stepBytes) {
    if (table.readBigUInt64LE(at + processAt) === BigInt(pid)) count += 1
  }
  return count
}
