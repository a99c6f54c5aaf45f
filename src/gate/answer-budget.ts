/**
 * How many bytes of long answers may be under way at a time: in this process, and of one
 * credential.
 *
 * The server keeps an answer until its connection has taken it, so that whoever asks much and reads
 * nothing would decide how much memory the process has. Room for an answer is taken before what it
 * shows is opened, and given back once it was sent or its connection has ended. Short answers take
 * none, so that no reader of long ones keeps others from them.
 * Source: contract section 16 (`decision:`).
 * @module
 */
import { ApiError } from '../errors.ts'
import { answersBytesMax, credentialAnswersBytesMax, shortAnswerBytesMax } from '../limits.ts'
import type { Room } from '../records/room.ts'
import { openShares, type SharesMax } from './shares.ts'

/** What the answer to one request has of the budget. */
export interface AnswerHold extends Room {
  /** The answer is there, and this long: nothing else is held from now on, but this is. */
  readonly settle: (bytes: number) => void
  /** Gives everything back; more than once is no matter. */
  readonly release: () => void
}

/** Opens the hold of one request of the credential at that ordinal; it must be released. */
export type AnswerBudget = (ordinal: number) => AnswerHold

const overloaded = () =>
  new ApiError('overloaded', 'More long answers are under way than are made at a time.')

const defaultMax: SharesMax = { all: answersBytesMax, own: credentialAnswersBytesMax }

/** Whatever its length, one answer of a credential fits: it counts as its whole share at most. */
export function openAnswerBudget(max: SharesMax = defaultMax): AnswerBudget {
  const shares = openShares(max)
  const countOf = (bytes: number): number =>
    bytes <= shortAnswerBytesMax ? 0 : Math.min(bytes, max.own)

  return ordinal => {
    let held = 0

    function hold(bytes: number): void {
      if (bytes !== held) shares.change(ordinal, bytes - held)
      held = bytes
    }

    return {
      needs(bytes) {
        const wanted = countOf(bytes)
        if (wanted <= held) return
        if (!shares.fits(ordinal, wanted - held)) throw overloaded()
        hold(wanted)
      },
      settle: bytes => hold(countOf(bytes)),
      release: () => hold(0),
    }
  }
}
