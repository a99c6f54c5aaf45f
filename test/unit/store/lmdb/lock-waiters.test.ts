/**
 * A process that sleeps in front of the engine's lock can be made to look at it again.
 * @module
 */
import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeLockWaker } from '../../../../src/store/lmdb/lock-waiters.ts'
import { temporaryFolder } from '../../../support/folders.ts'
import { startSleeper } from '../../../support/lock-sleepers.ts'

const pageBytes = 4_096

/** A folder with a lock file of two pages. */
function makeFolder(content = new Uint8Array(2 * pageBytes)) {
  const folder = temporaryFolder()
  const file = join(folder, 'lock.mdb')
  writeFileSync(file, content)
  return { folder, file }
}

const isLinux = process.platform === 'linux'

// Elsewhere there are no workers, which alone share a store.
test.skipIf(!isLinux)('all that sleep in front of any word of the head are woken', async () => {
  const { folder, file } = makeFolder()
  const offsets = [0, 0x40, 0x40, pageBytes - 4]
  const sleepers = await Promise.all(offsets.map(offset => startSleeper(file, offset)))
  makeLockWaker(folder)()
  expect(await Promise.all(sleepers.map(({ exited }) => exited))).toEqual([0, 0, 0, 0])
})

test.skipIf(!isLinux)('nobody is woken in front of another lock, nor behind the head', async () => {
  const [own, other] = [makeFolder(), makeFolder()]
  const sleepers = [await startSleeper(own.file, pageBytes), await startSleeper(other.file, 0x40)]
  makeLockWaker(own.folder)()
  const last = await startSleeper(own.file, 0x40)
  makeLockWaker(own.folder)()
  expect(await last.exited).toBe(0)
  expect(sleepers.map(({ exitCode }) => exitCode)).toEqual([null, null])
  for (const sleeper of sleepers) sleeper.kill('SIGKILL')
})

test('where there is no lock file yet, or an empty one, nothing happens', () => {
  makeLockWaker(temporaryFolder())()
  const { folder } = makeFolder(new Uint8Array())
  makeLockWaker(folder)()
})

test.skipIf(!isLinux)('the file stays as it was', async () => {
  const content = crypto.getRandomValues(new Uint8Array(2 * pageBytes))
  const { folder, file } = makeFolder(content)
  makeLockWaker(folder)()
  expect(await Bun.file(file).bytes()).toEqual(content)
})
