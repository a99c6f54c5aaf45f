import fc from 'fast-check'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { temporaryFolder } from '../support/folders.ts'
import { firstOrdinal, testModel } from './model-run.ts'

/** Draws from no fold at all to one that begins with every write, each in steps of all sizes. */
const folds = fc.record({
  rows: fc.constantFrom(1, 2, 5, 1_000),
  puts: fc.constantFrom(1, 3, 1_000),
  putsPerDigest: fc.constant(0),
})

/** The reserves of so many stores would fill a disk. */
const withoutReserve = { freeBytes: () => Infinity, allocate: () => false }

testModel(
  'the LMDB engine',
  folds,
  async fold => {
    const path = temporaryFolder()
    const open = () => openLmdbStore({ path, firstOrdinal, fold, ...withoutReserve })
    return { open }
  },
  150,
)
