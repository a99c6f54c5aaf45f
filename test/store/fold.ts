/**
 * Where the folds of a store are, for tests of it.
 * @module
 */
import { openEnvironment, readState, type State } from '../../src/store/lmdb/environment.ts'
import { openLmdbStore } from '../../src/store/lmdb/open.ts'

export async function stateOf(path: string): Promise<State> {
  const environment = openEnvironment(path)
  const state = readState(environment)
  await environment.root.close()
  return state
}

/** Folds all rows of a store that nobody has open. */
export async function foldAll(path: string): Promise<void> {
  const store = await openLmdbStore({ path, fold: { rows: 1 } })
  for (;;) {
    const { foldedTo, nextOrdinal } = await stateOf(path)
    if (foldedTo === nextOrdinal) break
    await store.write([])
  }
  await store.close()
}
