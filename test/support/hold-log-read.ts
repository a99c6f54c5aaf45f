/**
 * A program that opens a store for reading, reads its log, says how, and then waits for ever within
 * the same turn, as one that prints into a full pipe.
 *
 * Run: bun test/support/hold-log-read.ts FOLDER [amid]
 * @module
 */
import { writeSync } from 'node:fs'
import { openEnvironment } from '../../src/store/lmdb/environment.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'

const [path = '', amid] = process.argv.slice(2)
if (amid === undefined) {
  const store = await openLmdbStore({ path, readOnly: true })
  const bundles = await store.bundles({ from: 0 }, 1)
  writeSync(1, `${bundles.length} bundles\n`)
} else {
  const { root } = openEnvironment(path, true)
  root.useReadTransaction()
  writeSync(1, 'amid a read\n')
}
Bun.sleepSync(600_000)
