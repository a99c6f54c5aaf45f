/**
 * Counts rows on the disk from outside: from a second process, while a vault is served.
 * @module
 */
import { join } from 'node:path'
import { open, type RootDatabase } from 'lmdb'

const options = { encoding: 'binary', keyEncoding: 'binary' } as const

/** @returns the current count of rows of all kinds */
export function openRowCount(data: string): {
  readonly count: () => number
  readonly close: () => Promise<void>
} {
  const path = join(data, 'store')
  const root: RootDatabase<Uint8Array, Uint8Array> = open({
    ...options,
    path,
    noSubdir: false,
    readOnly: true,
    maxDbs: 8,
  })
  const rows = root.openDB<Uint8Array, Uint8Array>({ ...options, name: 'rows' })
  return {
    count() {
      root.resetReadTxn()
      return (rows.getStats() as { readonly entryCount: number }).entryCount
    },
    close: () => root.close(),
  }
}
