/**
 * Which long bodies are worked on at a time; others wait their turn, with their bytes.
 *
 * A body that is parsed takes up to 60 times its length, where made for that (`[[],[],…`), and
 * lives until its request is answered. Short bodies pass: hardly any are there at a time, and they
 * need not wait behind long ones. Credentials have turns, so that nobody waits for more than one
 * body of each other credential, and a part of the room is left to those who have none inside.
 * Source: contract section 16 (`decision:`).
 * @module
 */
import { openFairQueue } from '../fair-queue.ts'
import {
  longBodiesPerCredentialMax,
  parsedBodiesBytesMax,
  parsedBodiesSpareBytes,
  shortBodyBytesMax,
} from '../limits.ts'

interface Waiting {
  readonly bytes: number
  readonly enter: () => void
}

export interface LongBodyGate {
  /**
   * Resolves once there is room for a body of that length of the credential at that ordinal;
   * `undefined` for a short one, which has nothing to wait for.
   */
  readonly enter: (ordinal: number, bytes: number) => Promise<void> | undefined
  /** Every body that entered leaves once. */
  readonly leave: (ordinal: number, bytes: number) => void
}

export function openLongBodyGate(
  bytesMax = parsedBodiesBytesMax,
  spareBytes = parsedBodiesSpareBytes,
): LongBodyGate {
  let inside = 0
  const counts = new Map<number, number>()
  const waiting = openFairQueue<Waiting>()

  const countOf = (ordinal: number): number => counts.get(ordinal) ?? 0

  function change(ordinal: number, bytes: number, by: 1 | -1): void {
    inside += bytes * by
    const count = countOf(ordinal) + by
    if (count === 0) counts.delete(ordinal)
    else counts.set(ordinal, count)
  }

  /** Whatever its length, one enters where nobody is. */
  const fits = (ordinal: number, bytes: number): boolean =>
    inside === 0 || inside + bytes <= bytesMax + (countOf(ordinal) === 0 ? spareBytes : 0)

  /** Of those whose turn it may be the first; nobody goes before it, so that it surely comes. */
  function nextTurn(): readonly [ordinal: number, body: Waiting] | undefined {
    const heads = [...waiting.heads()]
    const most = heads.length > 1 ? 1 : longBodiesPerCredentialMax
    return heads.find(([ordinal]) => countOf(ordinal) < most)
  }

  function letIn(): void {
    for (let next = nextTurn(); next !== undefined; next = nextTurn()) {
      const [ordinal, { bytes, enter }] = next
      if (!fits(ordinal, bytes)) return
      waiting.take(ordinal)
      change(ordinal, bytes, 1)
      enter()
    }
  }

  return {
    enter(ordinal, bytes) {
      if (bytes <= shortBodyBytesMax) return undefined
      return new Promise<void>(enter => {
        waiting.add(ordinal, { bytes, enter })
        letIn()
      })
    },
    leave(ordinal, bytes) {
      if (bytes <= shortBodyBytesMax) return
      change(ordinal, bytes, -1)
      letIn()
    },
  }
}
