/**
 * Turns of credentials at a store that is waited for: how many operations are at work in it.
 *
 * A database of others serves what it is asked for in the order of asking, and this process all
 * that comes in one turn of the event loop before anything else. So a caller with hundreds of
 * things at once would keep others waiting until the last of them. Here few begin in one turn of
 * the loop, no more are at work than the store takes at a time, and who waits beyond that has turns
 * by credential. A credential with few under way begins at once, where the spare room allows.
 * Source: docs/many-machines.md (`decision:`).
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import {
  storeFew,
  storeFewPages,
  storePagesMax,
  storeSpareMax,
  storeWorkMax,
} from '../limits/limits.ts'
import { storeBeginsPerTurn } from '../limits/work-limits.ts'
import { databaseReadMsMax, databaseWriteMsMax } from '../store/core/limits.ts'
import { makeFairQueue } from '../lib/fair-queue.ts'
import { isReading, type Operation } from './operation.ts'

interface GateMax {
  readonly inside: number
  /** Beside those, for credentials that have few inside. */
  readonly spare: number
  /** Number of operations inside up to which a credential has few. */
  readonly few: number
  readonly perTurn: number
}

interface StoreGate {
  /** Resolves once an operation of the credential at that ordinal may begin; `undefined`: now. */
  readonly enter: (ordinal: number) => Promise<void> | undefined
  /** Each that entered leaves once. */
  readonly leave: (ordinal: number) => void
}

export function makeStoreGate(max: GateMax): StoreGate {
  const counts = new Map<number, number>()
  const waiting = makeFairQueue<() => void>()
  let inside = 0
  let begun = 0
  let waits = 0

  function change(ordinal: number, by: 1 | -1): void {
    inside += by
    const count = (counts.get(ordinal) ?? 0) + by
    if (count === 0) counts.delete(ordinal)
    else counts.set(ordinal, count)
  }

  function endTurn(): void {
    begun = 0
    letIn()
  }

  function begin(ordinal: number): void {
    // Runs once all that is read in this turn has begun, or waits for something.
    if (begun === 0) setImmediate(endTurn)
    begun += 1
    change(ordinal, 1)
  }

  const hasRoom = (): boolean => begun < max.perTurn && inside < max.inside

  /** True for a credential with few inside, which the room that others have taken does not stop. */
  const hasOwnRoom = (ordinal: number): boolean =>
    (counts.get(ordinal) ?? 0) < max.few && inside < max.inside + max.spare

  function nextIn(): readonly [ordinal: number, enter: () => void] | undefined {
    for (const head of waiting.heads()) if (hasRoom() || hasOwnRoom(head[0])) return head
    return undefined
  }

  function letIn(): void {
    for (let next = nextIn(); next !== undefined; next = nextIn()) {
      const [ordinal, enter] = next
      waiting.take(ordinal)
      waits -= 1
      begin(ordinal)
      enter()
    }
  }

  function mayBegin(ordinal: number): boolean {
    if (waiting.has(ordinal)) return false
    return hasOwnRoom(ordinal) || (waits === 0 && hasRoom())
  }

  return {
    enter(ordinal) {
      if (mayBegin(ordinal)) return void begin(ordinal)
      return new Promise<void>(enter => {
        waits += 1
        waiting.add(ordinal, enter)
      })
    },
    leave(ordinal) {
      change(ordinal, -1)
      letIn()
    },
  }
}

/** The turn of one request. */
export interface StoreTurn {
  /**
   * Resolves once its operation may begin; `undefined`: now.
   * @throws ApiError `overloaded` after as long as it would wait for a store that is away
   */
  readonly take: () => Promise<void> | undefined
  /**
   * Waits for something that is not the store without it, and for another one then.
   * @throws ApiError as `take` does
   */
  readonly aside: <T>(wait: () => Promise<T>) => Promise<T>
  /** Gives it back; may be called again. */
  readonly release: () => void
}

/** Makes the turn of one request of the credential at that ordinal; it must be released. */
export type StoreTurns = (
  ordinal: number,
  operation: Pick<Operation, 'method' | 'permission' | 'readsPages'>,
) => StoreTurn

const overloaded = () =>
  new ApiError('overloaded', 'More requests of this credential are under way than are worked on.')

/** By one promise; a request that is refused passes its turn on. */
const within = (entering: Promise<void>, msMax: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(overloaded()), msMax)
    void entering.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })

function turnAt(gate: StoreGate, ordinal: number, msMax: number): StoreTurn {
  let isTaken = false
  let isReleased = false
  const begin = (): void => {
    isTaken = true
    if (isReleased) leave()
  }
  function leave(): void {
    isTaken = false
    gate.leave(ordinal)
  }
  function take(): Promise<void> | undefined {
    const entering = gate.enter(ordinal)
    return entering === undefined ? void begin() : within(entering.then(begin), msMax)
  }
  return {
    take,
    async aside(wait) {
      leave()
      const value = await wait()
      await take()
      return value
    },
    release() {
      isReleased = true
      if (isTaken) leave()
    },
  }
}

/** Reads in a turn of its own. @throws ApiError as `StoreTurn.take` */
export async function readInTurn<T>(turn: StoreTurn, read: () => Promise<T>): Promise<T> {
  try {
    await turn.take()
    return await read()
  } finally {
    turn.release()
  }
}

const defaultWaits = { readMs: databaseReadMsMax, writeMs: databaseWriteMsMax }

/** Pages have few connections, and each is long. Reads wait here no longer than for the store. */
export function makeStoreTurns({ readMs, writeMs } = defaultWaits): StoreTurns {
  const pages = makeStoreGate({
    inside: storePagesMax,
    spare: storeSpareMax,
    few: storeFewPages,
    perTurn: Infinity,
  })
  const others = makeStoreGate({
    inside: storeWorkMax,
    spare: storeSpareMax,
    few: storeFew,
    perTurn: storeBeginsPerTurn,
  })
  return (ordinal, operation) => {
    const gate = operation.readsPages === true ? pages : others
    return turnAt(gate, ordinal, isReading(operation) ? readMs : writeMs)
  }
}
