/**
 * A process of its own that writes one row: `write-one-row.ts <folder> <number>`.
 * @module
 */
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { inserted } from '../store/rows.ts'

const [, , path = '', number] = process.argv
const store = await openLmdbStore({ path })
await inserted(store, { uniques: [Number(number)], terms: [Number(number)] })
await store.close()
