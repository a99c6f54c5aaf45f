/**
 * Room for what one request needs to be answered: rows that are read for it, what is opened of
 * them, and the answer itself until it was sent.
 *
 * A caller who reads much says so before it is opened. Source: contract section 16 (`decision:`).
 * @module
 */
import type { Row } from '../store/contract.ts'

export interface Budget {
  /**
   * So many bytes at a time. What was asked for before counts towards it.
   * @throws ApiError `overloaded` where so many are not free
   */
  readonly needs: (bytes: number) => void
}

/** How many tokens an answer shows, by how much of them: whole, masked, without their data. */
export type ShownCounts = Record<'reveal' | 'mask' | 'redact', number>

/** Who asks, with the room of its request; absent where nobody bounds it, and nobody counts. */
export interface Budgeted {
  readonly room?: Budget | undefined
  readonly shown?: ShownCounts | undefined
}

/** To be called once it is known that the token is in the answer. */
export function noteShown({ shown }: Budgeted, transform: keyof ShownCounts | undefined): void {
  if (shown !== undefined && transform !== undefined) shown[transform] += 1
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** @throws ApiError `overloaded` where there is no room for all of them */
export function makeRoom({ room }: Budgeted, rows: readonly Row[]): void {
  room?.needs(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}
