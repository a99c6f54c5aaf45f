/**
 * Readers of an older commit of a store: mostly a backup of another process.
 * @module
 */
import type { LmdbEnvironment } from '../environment.ts'

/** The engine returns its reader table as text, and its types leave it out. */
interface WithReaders {
  /** A header line, then process, thread and commit of each; `-` for an idle one. */
  readonly readerList: () => string
  /** Drops readers whose process has ended. */
  readonly readerCheck: () => number
}

const readCommit = /^\s*\d+\s+\S+\s+(\d+)$/

/** True if a reader holds a state from before a commit. */
export function isReadBefore({ root }: LmdbEnvironment, commit: number): boolean {
  const readers = root as unknown as WithReaders
  readers.readerCheck()
  return readers
    .readerList()
    .split('\n')
    .some(line => Number(readCommit.exec(line)?.[1] ?? Infinity) < commit)
}
