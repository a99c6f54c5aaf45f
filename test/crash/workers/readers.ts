/**
 * The reader table of an open store: the processes with a slot in it.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Step of the scan: slots are at multiples of it, after a head of another layout. */
const stepBytes = 16
/** A slot begins with the state that is read, u64, then the process, u64. */
const processAt = 8

/**
 * Counts the slots of a process. Reads only the file: the engine itself would clear the table
 * before it answers. @param data the data folder
 */
export function countReaders(data: string, pid: number): number {
  const table = readFileSync(join(data, 'store', 'lock.mdb'))
  let count = 0
  for (let at = 0; at + stepBytes <= table.length; at += stepBytes) {
    if (table.readBigUInt64LE(at + processAt) === BigInt(pid)) count += 1
  }
  return count
}
