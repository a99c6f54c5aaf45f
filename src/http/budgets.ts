/**
 * Budgets of memory: how many bytes of bodies and answers are held at a time.
 * @module
 */
import { ApiError } from '../lib/errors.ts'
import {
  answersBytesMax,
  credentialAnswersBytesMax,
  shortAnswerBytesMax,
  longBodiesPerCredentialMax,
  parsedBodiesBytesMax,
  parsedBodiesSpareBytes,
  shortBodyBytesMax,
} from '../limits/limits.ts'
import type { Budget } from '../records/budgeted.ts'
import { makeCounts } from '../lib/owner-counts.ts'
import { makeTurnQueue, type CallerOfTurns } from '../lib/turn-queue.ts'
import type { Settings } from '../settings/settings.ts'

/*
 * The count of every budget of memory: bytes that are held at a time, in all and by each
 * credential.
 */

/** In bytes. */
interface SharesMax {
  readonly all: number
  /** Bound of one credential. */
  readonly own: number
}

interface CredentialShares {
  /** True if the credential at that ordinal may hold so many bytes more. */
  readonly fits: (ordinal: number, bytes: number) => boolean
  /** Adds to what it holds, whether it fits or not; below zero gives back. */
  readonly change: (ordinal: number, bytes: number) => void
}

function makeShares(max: SharesMax): CredentialShares {
  let all = 0
  const owners = new Map<number, number>()
  const heldBy = (ordinal: number): number => owners.get(ordinal) ?? 0
  return {
    fits: (ordinal, bytes) => all + bytes <= max.all && heldBy(ordinal) + bytes <= max.own,
    change(ordinal, bytes) {
      const own = heldBy(ordinal) + bytes
      all += bytes
      if (own === 0) owners.delete(ordinal)
      else owners.set(ordinal, own)
    },
  }
}

/*
 * The budget of long answers: bytes that may be under way at a time, in this process and for one
 * credential.
 *
 * The server keeps an answer until its connection has taken it, so that a caller who asks much and
 * reads nothing would decide how much memory the process has. Room for an answer is taken before
 * what it shows is opened, and given back once it was sent or its connection has ended. Short
 * answers take none, so that no reader of long ones keeps others from them.
 * Source: contract section 16 (`decision:`).
 */

/** Bytes of the budget that the answer to one request holds. */
export interface AnswerLease extends Budget {
  /** The answer is there, and this long: nothing else is held from now on, but this is. */
  readonly settle: (bytes: number) => void
  /** Gives everything back; may be called again. */
  readonly release: () => void
}

/** Opens the lease of one request of the credential at that ordinal; it must be released. */
export type AnswerBudget = (ordinal: number) => AnswerLease

const answersOverloaded = () =>
  new ApiError('overloaded', 'More long answers are under way than are made at a time.')

const defaultMax: SharesMax = { all: answersBytesMax, own: credentialAnswersBytesMax }

/** Whatever its length, one answer of a credential fits: it counts as its whole share at most. */
export function makeAnswerBudget(max: SharesMax = defaultMax): AnswerBudget {
  const shares = makeShares(max)
  const countOf = (bytes: number): number =>
    bytes <= shortAnswerBytesMax ? 0 : Math.min(bytes, max.own)

  return ordinal => {
    let held = 0

    function hold(bytes: number): void {
      if (bytes !== held) shares.change(ordinal, bytes - held)
      held = bytes
    }

    return {
      reserve(bytes) {
        const wanted = countOf(bytes)
        if (wanted <= held) return
        if (!shares.fits(ordinal, wanted - held)) throw answersOverloaded()
        hold(wanted)
      },
      settle: bytes => hold(countOf(bytes)),
      release: () => hold(0),
    }
  }
}

/*
 * The gate of long bodies: few are worked on at a time; others wait their turn, with their bytes.
 *
 * A body that is parsed takes up to 60 times its length, where made for that (`[[],[],…`), and
 * lives until its request is answered. Short bodies pass, since they need not wait behind long
 * ones: nothing here bounds how many of them are there (docs/threats.md, "Floods"). Tenants take
 * turns, in each its applications, and then their credentials, so that nobody waits for more than
 * one body of each other one, and a part of the room is left to applications that have none inside.
 * Source: contract section 16 (`decision:`).
 */

interface WaitingBody {
  readonly owner: CallerOfTurns
  readonly bytes: number
  readonly enter: () => void
}

interface LongBodyGate {
  /**
   * Resolves once there is room for a body of that length of that caller; `undefined` for a short
   * one, which has nothing to wait for.
   */
  readonly enter: (owner: CallerOfTurns, bytes: number) => Promise<void> | undefined
  /** Every body that entered leaves once. */
  readonly leave: (owner: CallerOfTurns, bytes: number) => void
}

export function makeLongBodyGate(
  bytesMax = parsedBodiesBytesMax,
  spareBytes = parsedBodiesSpareBytes,
): LongBodyGate {
  let inside = 0
  const byCredential = makeCounts<number>()
  const byApplication = makeCounts<string>()
  const waitingCredentials = makeCounts<number>()
  const waitingApplications = makeCounts<string>()
  const waiting = makeTurnQueue<WaitingBody>()

  function changeWaiting({ applicationId, credential }: CallerOfTurns, by: 1 | -1): void {
    waitingCredentials.change(credential.ordinal, by)
    waitingApplications.change(applicationId, by)
  }

  function change({ applicationId, credential }: CallerOfTurns, bytes: number, by: 1 | -1): void {
    inside += bytes * by
    byCredential.change(credential.ordinal, by)
    byApplication.change(applicationId, by)
  }

  /** Whatever its length, one enters where nobody is. */
  const fits = ({ owner: { applicationId }, bytes }: WaitingBody): boolean =>
    inside === 0 ||
    inside + bytes <= bytesMax + (byApplication.of(applicationId) === 0 ? spareBytes : 0)

  /** Sessions count as their application where another one waits. */
  function hasFew({ applicationId, credential: { ordinal } }: CallerOfTurns): boolean {
    if (waitingApplications.owners() > 1) return byApplication.of(applicationId) === 0
    const most = waitingCredentials.owners() > 1 ? 1 : longBodiesPerCredentialMax
    return byCredential.of(ordinal) < most
  }

  /** The first whose turn it may be; nobody goes before it, so that it surely comes. */
  function takeNext(): WaitingBody | undefined {
    let isFull = false
    return waiting.take(body => {
      if (isFull || !hasFew(body.owner)) return false
      isFull = !fits(body)
      return !isFull
    })
  }

  function letIn(): void {
    for (let next = takeNext(); next !== undefined; next = takeNext()) {
      const { owner, bytes, enter } = next
      changeWaiting(owner, -1)
      change(owner, bytes, 1)
      enter()
    }
  }

  return {
    enter(owner, bytes) {
      if (bytes <= shortBodyBytesMax) return undefined
      return new Promise<void>(enter => {
        waiting.add(owner, { owner, bytes, enter })
        changeWaiting(owner, 1)
        letIn()
      })
    },
    leave(owner, bytes) {
      if (bytes <= shortBodyBytesMax) return
      change(owner, bytes, -1)
      letIn()
    },
  }
}

/*
 * The budget of bodies: bytes that may be under way at a time, in this process and for one
 * credential.
 *
 * The server keeps in memory what arrives of a body before it is asked for, so that a caller who
 * opens many requests and ends none would decide how much memory the process has. Bytes beyond the
 * budget are refused. A body counts by what has come of it, until its request is answered, since
 * what was parsed of it lives as long. Short ones do not count, so that nobody who shares a key is
 * shut out by long ones of others: each is no more than the header block of its request may be.
 * Source: contract section 16.
 */

/** Bytes of the budget that the body of one request holds. */
export interface BodyLease {
  /** @throws ApiError `overloaded` where so many bytes more do not fit; then none is taken */
  readonly take: (bytes: number) => void
  /** @throws ApiError `overloaded` where so many bytes more do not fit now; none is taken */
  readonly assertRoom: (bytes: number) => void
  /** Resolves once a body of that length, which has come in whole, may be worked on. */
  readonly begin: (bytes: number) => Promise<void> | undefined
  /** Gives everything back; `giveBack` calls it, also for a refused body. Takes no more. */
  readonly release: () => void
}

/** Opens the lease of one request of a caller; it must be released. */
export type BodyBudget = (owner: CallerOfTurns) => BodyLease

type BodyBounds = Pick<Settings, 'bodyBytesMax' | 'bodiesBytesMax' | 'credentialBodiesBytesMax'>

const bodiesOverloaded = () =>
  new ApiError('overloaded', 'More bodies are under way than are taken at a time.')

/** Whatever the settings are, one body of the longest fits (`decision:`). */
export function makeBodyBudget(settings: BodyBounds): BodyBudget {
  const shares = makeShares({
    all: Math.max(settings.bodyBytesMax, settings.bodiesBytesMax),
    own: Math.max(settings.bodyBytesMax, settings.credentialBodiesBytesMax),
  })
  const gate = makeLongBodyGate()

  return owner => {
    const { ordinal } = owner.credential
    let held = 0
    let begun = 0
    let isReleased = false

    function assertRoom(bytes: number): void {
      if (isReleased || !shares.fits(ordinal, bytes)) throw bodiesOverloaded()
    }

    return {
      assertRoom,
      take(bytes) {
        assertRoom(bytes)
        shares.change(ordinal, bytes)
        held += bytes
      },
      begin(bytes) {
        return gate.enter(owner, bytes)?.then(() => {
          begun = bytes
        })
      },
      release() {
        if (held > 0) shares.change(ordinal, -held)
        gate.leave(owner, begun)
        held = 0
        begun = 0
        isReleased = true
      },
    }
  }
}
