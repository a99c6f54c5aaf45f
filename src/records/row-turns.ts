/**
 * Turns: in one process, the writers of one row go one after the other.
 *
 * Only to spare them from failing each other over and over: that a write lands on what was read is
 * decided by the store, also against writers of other processes. Credentials have turns, so that
 * nobody waits for all the writes that another one has brought.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { makeFairQueue, type FairQueue } from '../lib/fair-queue.ts'

/** Of each row that is being written: who waits, by the ordinal of their credential. */
const waitingFor = new Map<string, FairQueue<() => void>>()

function beginNext(key: string, waiting: FairQueue<() => void>): void {
  for (const [owner] of waiting.heads()) {
    waiting.take(owner)?.()
    return
  }
  waitingFor.delete(key)
}

/**
 * Runs the task when no other one of the same digest is under way, whose end may be well or badly.
 * @param digest a unique of the row; keyed, so it is the row's own among all stores
 * @param owner  the ordinal of the credential on whose behalf it runs
 */
export async function inTurn<T>(
  digest: Uint8Array,
  owner: number,
  task: () => Promise<T>,
): Promise<T> {
  const key = hexOf(digest)
  const known = waitingFor.get(key)
  const waiting = known ?? makeFairQueue()
  if (known === undefined) waitingFor.set(key, waiting)
  else await new Promise<void>(resolve => waiting.add(owner, resolve))
  try {
    return await task()
  } finally {
    beginNext(key, waiting)
  }
}
