/**
 * Puts: the input of a transaction to the engine.
 * @module
 */
import { stagedBytesMax } from '../core/limits.ts'
import type { LmdbTable } from './environment.ts'

/** One put, or the removal of a key. */
export interface Put {
  readonly table: LmdbTable
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  /** The key sorts after all existing ones, and after those of the steps before. */
  readonly isLast?: boolean
}

/** Values up to its size are copied into it; larger ones are rare, and passed as they are. */
const staging = new Uint8Array(stagedBytesMax)

/**
 * Copies a value to one shared buffer for a put, which copies it again: the engine's binding looks
 * up the address of each buffer it has not seen, and that costs as much as the put.
 */
function staged(value: Uint8Array): Uint8Array {
  if (value.length > stagedBytesMax) return value
  staging.set(value)
  return new Uint8Array(staging.buffer, 0, value.length)
}

/**
 * Puts or removes one entry. Unless the engine is told that a key sorts last, it splits a full page
 * so that the last entry moves to the new page: a page would keep one row less of its six or seven.
 * Given a wrong hint, it puts nothing and returns false. `assertSafeState` has checked the hint,
 * but an acknowledged row must not depend on that.
 */
export function applyPut({ table, key, value, isLast = false }: Put): void {
  if (value === undefined) {
    table.removeSync(key)
    return
  }
  const bytes = staged(value)
  const isPut: unknown = isLast && table.putSync(key, bytes, { append: true })
  if (isPut !== true) table.putSync(key, bytes)
}
