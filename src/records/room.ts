/**
 * Room for what one request needs to be answered: rows that are read for it, what is opened of
 * them, and the answer itself until it was sent.
 *
 * Whoever reads much says so before it is opened. Source: contract section 16 (`decision:`).
 * @module
 */
import type { Row } from '../store/contract.ts'

export interface Room {
  /**
   * So many bytes at a time. What was asked for before counts towards it.
   * @throws ApiError `overloaded` where so many are not free
   */
  readonly needs: (bytes: number) => void
}

/** Who asks, with the room of its request; absent where nobody bounds it. */
export interface Housed {
  readonly room?: Room | undefined
}

const bytesOf = ({ parts }: Row): number => parts.reduce((bytes, part) => bytes + part.length, 0)

/** @throws ApiError `overloaded` where there is no room for all of them */
export function makeRoom({ room }: Housed, rows: readonly Row[]): void {
  room?.needs(rows.reduce((bytes, row) => bytes + bytesOf(row), 0))
}
