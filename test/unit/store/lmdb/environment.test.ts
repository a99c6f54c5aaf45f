/**
 * What the engine is told when it opens a store.
 * @module
 */
import { expect, test } from 'bun:test'
import { openEnvironment } from '../../../../src/store/lmdb/environment.ts'
import { temporaryFolder } from '../../../support/folders.ts'

/** Each takes a page of its own. */
const value = Buffer.alloc(3_000)
const groups = 40
const groupSize = 5

test('a transaction reads no more lists of free pages than it needs, and keeps none', async () => {
  const { root, rows } = openEnvironment(temporaryFolder())
  const forEachGroup = (change: (key: Buffer) => void): void => {
    for (let group = 0; group < groups; group += 1) {
      root.transactionSync(() => {
        for (let index = 0; index < groupSize; index += 1) change(Buffer.from([group, index]))
      })
    }
  }
  forEachGroup(key => rows.putSync(key, value))
  // Each transaction leaves a list of the pages that it gave back, more than the next one takes.
  forEachGroup(key => rows.removeSync(key))
  const { free } = root.getStats() as { free: { entryCount: number } }
  // An engine that keeps what it read adds all others, and writes them back as one.
  expect(free.entryCount).toBeGreaterThan(groups / 2)
  await root.close()
})
