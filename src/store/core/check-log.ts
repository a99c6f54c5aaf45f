/**
 * The check of a log, for every engine: its bundles follow each other without gaps, from the oldest
 * sequence that is kept up to the next one.
 * @module
 */
import type { LogRange, StoredBundle } from '../contract.ts'
import type { StoreFinding } from '../operated.ts'

export interface LogCheck {
  /** Takes the next bundle in order; `undefined` for bytes that are none. */
  readonly next: (first: number, bundle: StoredBundle | undefined) => void
  readonly end: () => void
}

/** @param range `undefined` for bytes that are none */
export function makeLogCheck(
  range: LogRange | undefined,
  add: (finding: StoreFinding) => void,
): LogCheck {
  const kind = 'log_damaged'
  if (range === undefined) add({ kind })
  /** Unknown behind damage, which is reported once. */
  let expected = range?.from
  return {
    next(first, bundle) {
      const isNext = expected === undefined || first === expected
      if (bundle === undefined || !isNext) add({ kind, sequence: first })
      expected = bundle && first + bundle.leaves.length
    },
    end() {
      if (range !== undefined && (expected ?? range.next) !== range.next) add({ kind })
    },
  }
}
