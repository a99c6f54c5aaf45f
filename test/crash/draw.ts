/**
 * Repeatable random choices for the crash campaign: the same seed gives the same choices.
 * @module
 */
import { seededBytes } from '../support/seeded.ts'

/** Draws a whole number from 0 to below the bound, which is at most 2^32. */
export type Draw = (below: number) => number

export function drawFrom(seed: number): Draw {
  const bytes = seededBytes(seed)
  return below => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes(4)
    return Math.floor(((a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d) / 2 ** 32) * below)
  }
}

export const pick = <T>(draw: Draw, items: readonly T[]): T | undefined => items[draw(items.length)]

/** Takes a random item out of a list whose order does not matter. */
export function takeAny<T>(draw: Draw, items: T[]): T | undefined {
  if (items.length === 0) return undefined
  const at = draw(items.length)
  const taken = items[at]
  const last = items.pop()
  if (last !== undefined && at < items.length) items[at] = last
  return taken
}
