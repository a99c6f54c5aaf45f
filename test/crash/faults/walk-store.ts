/**
 * Walks a store and prints its faults: `walk-store.ts <folder>`.
 *
 * A process of its own, since a damaged file can end it.
 * @module
 */
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'

const store = await openLmdbStore({ path: process.argv[2] ?? '' })
for (const { kind } of await store.integrity()) console.info(kind)
await store.close()
