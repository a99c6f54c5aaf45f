/**
 * Turns of callers at a store that is waited for: how many operations are at work in it.
 *
 * A database of others serves what it is asked for in the order of asking, and this process all
 * that comes in one turn of the event loop before anything else. So a caller with hundreds of
 * things at once would keep others waiting until the last of them. Here few begin in one turn of
 * the loop, no more are at work than the store takes at a time, and beyond that tenants take turns,
 * in each its applications, and then their credentials. A credential with few under way begins at
 * once, where the room of its application and of its tenant allows: there may be any number of
 * sessions. Source: docs/many-machines.md (`decision:`).
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import {
  storeFew,
  storeFewPages,
  storeFewsPerApplication,
  storeFewsPerTenant,
  storePagesMax,
  storeSpareMax,
  storeWorkMax,
} from '../limits/limits.ts'
import { storeBeginsPerTurn } from '../limits/work-limits.ts'
import { databaseReadMsMax, databaseWriteMsMax } from '../store/core/limits.ts'
import { makeCounts } from '../lib/owner-counts.ts'
import { makeTurnQueue, type CallerOfTurns } from '../lib/turn-queue.ts'
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
  /** Resolves once an operation of that caller may begin; `undefined`: now. */
  readonly enter: (owner: CallerOfTurns) => Promise<void> | undefined
  /** Each that entered leaves once. */
  readonly leave: (owner: CallerOfTurns) => void
}

interface Waiting {
  readonly owner: CallerOfTurns
  readonly enter: () => void
}

export function makeStoreGate(max: GateMax): StoreGate {
  /** By the ordinals of credentials, and the ids of applications and tenants. */
  const counts = makeCounts<number | string>()
  const waiting = makeTurnQueue<Waiting>()
  let inside = 0
  let begun = 0
  let waits = 0

  function change({ tenantId, applicationId, credential }: CallerOfTurns, by: 1 | -1): void {
    inside += by
    for (const owner of [tenantId, applicationId, credential.ordinal]) counts.change(owner, by)
  }

  function endTurn(): void {
    begun = 0
    letIn()
  }

  function begin(owner: CallerOfTurns): void {
    // Runs once all that is read in this turn has begun, or waits for something.
    if (begun === 0) setImmediate(endTurn)
    begun += 1
    change(owner, 1)
  }

  const hasRoom = (): boolean => begun < max.perTurn && inside < max.inside
  const hasSpare = (): boolean => inside < max.inside + max.spare

  /** True for a credential with few inside, which the room that others have does not stop. */
  const hasOwnRoom = ({ tenantId, applicationId, credential }: CallerOfTurns): boolean =>
    hasSpare() &&
    counts.of(credential.ordinal) < max.few &&
    counts.of(applicationId) < max.inside + storeFewsPerApplication * max.few &&
    counts.of(tenantId) < max.inside + storeFewsPerTenant * max.few

  function nextIn(): Waiting | undefined {
    if (hasRoom()) return waiting.take()
    return hasSpare() ? waiting.take(({ owner }) => hasOwnRoom(owner)) : undefined
  }

  function letIn(): void {
    for (let next = nextIn(); next !== undefined; next = nextIn()) {
      waits -= 1
      begin(next.owner)
      next.enter()
    }
  }

  function mayBegin(owner: CallerOfTurns): boolean {
    if (waiting.has(owner)) return false
    return hasOwnRoom(owner) || (waits === 0 && hasRoom())
  }

  return {
    enter(owner) {
      if (mayBegin(owner)) return void begin(owner)
      return new Promise<void>(enter => {
        waits += 1
        waiting.add(owner, { owner, enter })
      })
    },
    leave(owner) {
      change(owner, -1)
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

/** Makes the turn of one request of a caller; it must be released. */
export type StoreTurns = (
  owner: CallerOfTurns,
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

function turnAt(gate: StoreGate, owner: CallerOfTurns, msMax: number): StoreTurn {
  let isTaken = false
  let isReleased = false
  const begin = (): void => {
    isTaken = true
    if (isReleased) leave()
  }
  function leave(): void {
    isTaken = false
    gate.leave(owner)
  }
  function take(): Promise<void> | undefined {
    const entering = gate.enter(owner)
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
  return (owner, operation) => {
    const gate = operation.readsPages === true ? pages : others
    return turnAt(gate, owner, isReading(operation) ? readMs : writeMs)
  }
}
