/**
 * How many bytes of bodies may be under way at a time: in this process, and of one credential.
 *
 * The server keeps in memory what arrives of a body before it is asked for, so that whoever opens
 * many requests and ends none would decide how much memory the process has. What is beyond the
 * budget is refused. A body counts by what has come of it, until its request is answered, since
 * what was parsed of it lives as long. Short ones do not count, so that nobody who shares a key is
 * shut out by long ones of others: each is no more than the header block of its request may be.
 * Source: contract section 16.
 * @module
 */
import { ApiError } from '../errors.ts'
import type { Settings } from '../settings.ts'
import { openLongBodyGate } from './long-body-gate.ts'
import { openShares } from './shares.ts'

/** What one request has of the budget. */
export interface Hold {
  /** @throws ApiError `overloaded` where so many bytes more do not fit; then none is taken */
  readonly take: (bytes: number) => void
  /** @throws ApiError `overloaded` where so many bytes more do not fit now; none is taken */
  readonly assertRoom: (bytes: number) => void
  /** Resolves once a body of that length, which has come in whole, may be worked on. */
  readonly begin: (bytes: number) => Promise<void> | undefined
  /** Gives everything back. Nothing can be taken from then on. */
  readonly release: () => void
}

/** Opens the hold of one request of the credential at that ordinal; it must be released. */
export type BodyBudget = (ordinal: number) => Hold

type Bounds = Pick<Settings, 'bodyBytesMax' | 'bodiesBytesMax' | 'credentialBodiesBytesMax'>

const overloaded = () =>
  new ApiError('overloaded', 'More bodies are under way than are taken at a time.')

/** Whatever the settings are, one body of the longest fits (`decision:`). */
export function openBodyBudget(settings: Bounds): BodyBudget {
  const shares = openShares({
    all: Math.max(settings.bodyBytesMax, settings.bodiesBytesMax),
    own: Math.max(settings.bodyBytesMax, settings.credentialBodiesBytesMax),
  })
  const gate = openLongBodyGate()

  return ordinal => {
    let held = 0
    let begun = 0
    let isReleased = false

    function assertRoom(bytes: number): void {
      if (isReleased || !shares.fits(ordinal, bytes)) throw overloaded()
    }

    return {
      assertRoom,
      take(bytes) {
        assertRoom(bytes)
        shares.change(ordinal, bytes)
        held += bytes
      },
      begin(bytes) {
        return gate.enter(ordinal, bytes)?.then(() => {
          begun = bytes
        })
      },
      release() {
        if (held > 0) shares.change(ordinal, -held)
        gate.leave(ordinal, begun)
        held = 0
        begun = 0
        isReleased = true
      },
    }
  }
}
