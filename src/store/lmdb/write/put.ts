/**
 * Puts: what a transaction hands to the engine.
 * @module
 */
import { stagedBytesMax } from '../../../limits.ts'
import type { Table } from '../environment.ts'

/** One put, or the removal of a key. */
export interface Put {
  readonly table: Table
  readonly key: Uint8Array
  readonly value: Uint8Array | undefined
  /** The key comes after all that are there, and after those of the steps before. */
  readonly isLast?: boolean
}

/** Larger values are few, and go as they are. */
const staging = new Uint8Array(stagedBytesMax)

/**
 * The same bytes for a put, which copies them: the engine's binding looks up the address of each
 * buffer that it has not met, and that costs as much as the put.
 */
function staged(value: Uint8Array): Uint8Array {
  if (value.length > stagedBytesMax) return value
  staging.set(value)
  return new Uint8Array(staging.buffer, 0, value.length)
}

/**
 * The engine splits a full page so that its last entry moves along, unless it is told that the new
 * one comes after all: of rows, where six or seven fill a page, that would be one less in each.
 * Told so wrongly it puts nothing, and says false. `assertSafeState` has checked that it is not
 * wrong, but a row that was answered must not hang on that.
 */
export function takePut({ table, key, value, isLast = false }: Put): void {
  if (value === undefined) {
    table.removeSync(key)
    return
  }
  const bytes = staged(value)
  const isPut: unknown = isLast && table.putSync(key, bytes, { append: true })
  if (isPut !== true) table.putSync(key, bytes)
}
