/**
 * Who reads a store as of an older commit: a backup of another process, mostly.
 * @module
 */
import type { LmdbEnvironment } from '../environment.ts'

/** The engine gives a table as text; its types leave it out. */
interface WithReaders {
  /** A line of heads, then process, thread and commit of each; `-` for one that reads nothing. */
  readonly readerList: () => string
  /** Forgets those whose process has ended. */
  readonly readerCheck: () => number
}

const readCommit = /^\s*\d+\s+\S+\s+(\d+)$/

/** Whether somebody reads a state from before a commit. */
export function isReadBefore({ root }: LmdbEnvironment, commit: number): boolean {
  const readers = root as unknown as WithReaders
  readers.readerCheck()
  return readers
    .readerList()
    .split('\n')
    .some(line => Number(readCommit.exec(line)?.[1] ?? Infinity) < commit)
}
