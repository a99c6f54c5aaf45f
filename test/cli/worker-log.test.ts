/**
 * `GET /logs` of a folder that three workers serve: all of them find what one of them has indexed.
 * @module
 */
import { test } from 'bun:test'
import { expectFoundByWorkers } from '../support/served-log.ts'

// proves C17.3
test(
  'entries are found by each worker, in the index and behind it',
  () => expectFoundByWorkers(),
  300_000,
)
