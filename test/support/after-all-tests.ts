/**
 * Loaded before all test files (`bunfig.toml`), so that its hook runs after the last of them, or
 * after each if they run side by side: the test runner ends without the `exit` event.
 * @module
 */
import { afterAll } from 'bun:test'
import { endAll } from './at-end.ts'
import { recordFileTimes } from './file-times.ts'
import { removeTemporaryFolders } from './folders.ts'

afterAll(async () => {
  await endAll()
  removeTemporaryFolders()
})
recordFileTimes()
