/**
 * Folding in tests of a store.
 * @module
 */
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'

/** Folds all rows of a store that nobody has open. */
export async function foldAll(path: string): Promise<void> {
  const store = await openLmdbStore({ path, fold: { rows: 1 } })
  while (store.state().foldedTo < store.state().nextOrdinal) await store.write([])
  await store.close()
}
