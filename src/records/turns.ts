/**
 * Turns: in one process, the writers of one row go one after the other.
 *
 * Only to spare them from failing each other over and over: that a write lands on what was read is
 * decided by the store, also against writers of other processes.
 * @module
 */
import { hexOf } from '../bytes.ts'

const last = new Map<string, Promise<unknown>>()

/**
 * Runs the task when all that came before it for the same digest have ended, well or badly.
 * @param digest a unique of the row; keyed, so it is the row's own among all stores
 */
export async function inTurn<T>(digest: Uint8Array, task: () => Promise<T>): Promise<T> {
  const key = hexOf(digest)
  const before = last.get(key)
  const turn = before === undefined ? task() : before.then(task, task)
  last.set(key, turn)
  try {
    return await turn
  } finally {
    if (last.get(key) === turn) last.delete(key)
  }
}
