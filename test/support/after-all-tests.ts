/**
 * Loaded before all test files (`bunfig.toml`), so that its hook runs once, after the last of them:
 * the test runner ends without the `exit` event.
 * @module
 */
import { afterAll } from 'bun:test'
import { removeTemporaryFolders } from './folders.ts'

afterAll(removeTemporaryFolders)
