/**
 * The sum over all rows in the table of facts, under the key `sum`: one sealed value, which every
 * commit that changes rows or appends to the log puts anew.
 * @module
 */
import { bufferOf, utf8 } from '../../lib/bytes.ts'
import { assertStored, attempt, invariant } from '../../lib/errors.ts'
import type { SumSealer } from '../contract.ts'
import { makeSumCheck } from '../core/check-sum.ts'
import {
  emptySum,
  noWriter,
  openSum,
  sealSum,
  sumAfter,
  type CommitChange,
  type RowSum,
} from '../core/row-sum.ts'
import type { StoredSum, SumPart } from '../operated.ts'
import { isEmpty, openEnvironment, type LmdbEnvironment } from './environment.ts'
import type { Put } from './put.ts'
import { readEveryRow } from './index/read-rows.ts'
import { readEveryBundle, readLogRange } from './log-table.ts'

const sumKey = utf8('sum')

/** @throws ApiError `storage_corrupt` */
export function readSum(environment: LmdbEnvironment): StoredSum & { readonly logNext: number } {
  const sealed = environment.meta.getBinary(sumKey)
  const { next: logNext } = readLogRange(environment)
  const parts = sealed ? [{ writer: noWriter, sealed: Uint8Array.from(sealed) }] : []
  return { parts, logNext }
}

/** Keeps the sum of a store in this process. */
export interface SumKeeper {
  /** Until it is called, a store that keeps a sum is not written. */
  readonly keep: (sealer: SumSealer) => void
  /** Returns the put of the sum for a commit; run within its transaction, before its puts. */
  readonly putOf: (change: CommitChange) => Put | undefined
}

export function makeSumKeeper(environment: LmdbEnvironment): SumKeeper {
  const { meta, rows: table } = environment
  let sealer: SumSealer | undefined
  /** The sum that this process put last: its next commit mostly finds the same. */
  let known: { readonly sealed: Uint8Array; readonly sum: RowSum } | undefined

  /** Returns the sum that stands; `undefined` if none is kept, or it is not that of this state. */
  function standing(by: SumSealer, sealed: Uint8Array | undefined, logNext: number) {
    if (sealed === undefined) {
      return isEmpty(table) ? { ...emptySum, entries: logNext } : undefined
    }
    const isKnown = known !== undefined && bufferOf(known.sealed).equals(sealed)
    const sum = isKnown ? known?.sum : openSum(by, sealed)
    return sum?.entries === logNext ? sum : undefined
  }

  return {
    keep(given) {
      sealer = given
    },
    putOf(change) {
      if (change.rows.length === 0 && change.entries === 0) return undefined
      const stored = meta.getBinary(sumKey)
      invariant(
        sealer !== undefined || stored === undefined,
        'a store that keeps a sum is written with its keys',
      )
      const log = attempt(() => readLogRange(environment))
      if (sealer === undefined || log === undefined) return undefined
      const before = standing(sealer, stored, log.next)
      // One that was put there by others stays, so that it is told, however much is written.
      if (before === undefined) return undefined
      const sum = sumAfter(before, change, sealer)
      const sealed = sealSum(sealer, sum)
      known = { sealed, sum }
      return { table: meta, key: sumKey, value: sealed }
    },
  }
}

/**
 * Adds up all rows of a store that nobody has open, and keeps their sum; or keeps the one that is
 * there.
 * @param path of its folder
 * @param there parts of the sum that the rows must fit, where they come from; absent if none was
 *   begun there
 * @throws ApiError `storage_corrupt` if they do not; the engine's or the system's own error
 */
export async function beginSum(
  path: string,
  sealer: SumSealer,
  there?: readonly SumPart[],
): Promise<void> {
  const environment = openEnvironment(path)
  try {
    environment.root.transactionSync(() => {
      const { parts, logNext } = readSum(environment)
      if (parts.length > 0) return
      const check = makeSumCheck(sealer)
      for (const row of readEveryRow(environment)) check.add(row)
      const sum = { ...check.found(), entries: logNext }
      if (there !== undefined) {
        const take = check.entriesFor(there)
        for (const { first, leaves } of readEveryBundle(environment)) {
          leaves.forEach((leaf, at) => take(first + at, leaf))
        }
        const findings = check.end({ parts: there, logNext })
        assertStored(findings.length === 0, 'rows that fit the sum over all of them')
      }
      environment.meta.putSync(sumKey, sealSum(sealer, sum))
    })
  } finally {
    await environment.root.close()
  }
}
