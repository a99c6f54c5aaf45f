/**
 * Turns: within one process, writers of the same row run one after the other.
 *
 * This only spares them from failing each other again and again: the store decides whether a write
 * still matches what was read, also against other processes. Credentials take turns, so that none
 * waits for all the writes of another one.
 * @module
 */
import { hexOf } from '../lib/bytes.ts'
import { makeTurnQueue, type TurnOwner, type TurnQueue } from '../lib/turn-queue.ts'

/** Waiting writers of each row that is being written. */
const waitingFor = new Map<string, TurnQueue<() => void>>()

function beginNext(key: string, waiting: TurnQueue<() => void>): void {
  const begin = waiting.take()
  if (begin === undefined) waitingFor.delete(key)
  else begin()
}

/**
 * Runs the task once no other task with the same digest is running, even if that one failed.
 * @param digest a unique of the row; keyed, so no other store has the same
 * @param owner  the caller on whose behalf it runs
 * @param task   is told whether it had to wait for another one
 */
export async function inRowTurn<T>(
  digest: Uint8Array,
  owner: TurnOwner,
  task: (hasWaited: boolean) => Promise<T>,
): Promise<T> {
  const key = hexOf(digest)
  const known = waitingFor.get(key)
  const waiting = known ?? makeTurnQueue()
  if (known === undefined) waitingFor.set(key, waiting)
  else await new Promise<void>(resolve => waiting.add(owner, resolve))
  try {
    return await task(known !== undefined)
  } finally {
    beginNext(key, waiting)
  }
}
