/**
 * Subject of a suite of store tests.
 *
 * @module
 */
import type { OperatedStore } from '../../src/store/operated.ts'

/** The store under test; a new and empty one for each test. */
export interface Subject {
  store(): OperatedStore
  /** Closes the store and opens it again at its place. */
  reopen(): Promise<OperatedStore>
}
