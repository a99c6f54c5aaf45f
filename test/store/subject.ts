/**
 * Subject of a suite of store tests.
 *
 * @module
 */
import type { Store } from '../../src/store/contract.ts'

/** The store under test; a new and empty one for each test. */
export interface Subject {
  store(): Store
  /** Closes the store and opens it again at its place. */
  reopen(): Promise<Store>
}
