/**
 * Seats of those who wait for events: few of one credential, and a bounded number in all.
 * @module
 */
import { ApiError, tooManyRequests } from '../lib/errors.ts'

/**
 * Takes a seat for the credential at an ordinal.
 * @returns a function that gives it back; it may be called again
 * @throws ApiError `too_many_requests`, `overloaded`
 */
type TakeSeat = (ordinal: number) => () => void

/** @param what has them, as the refusals name it */
export function makeSeats(max: { readonly own: number; readonly all: number }, what: string) {
  const taken = new Map<number, number>()
  let all = 0
  const take: TakeSeat = ordinal => {
    const own = taken.get(ordinal) ?? 0
    if (own >= max.own) {
      throw tooManyRequests(`This credential has ${max.own} ${what}: end one, or wait.`, 1)
    }
    if (all >= max.all) throw new ApiError('overloaded', `All ${max.all} ${what} are taken.`)
    taken.set(ordinal, own + 1)
    all += 1
    let isGiven = false
    return () => {
      if (isGiven) return
      isGiven = true
      all -= 1
      const left = (taken.get(ordinal) ?? 1) - 1
      if (left > 0) taken.set(ordinal, left)
      else taken.delete(ordinal)
    }
  }
  return take
}
