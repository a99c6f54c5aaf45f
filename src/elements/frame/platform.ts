/**
 * Clock, randomness and timers of the browser, for the frame.
 * @module
 */
import type { Expiry } from './expiry.ts'

export function today(): Expiry {
  const now = new Date()
  return { month: now.getMonth() + 1, year: now.getFullYear() }
}

export const elapsedMs = (): number => performance.now()

/** At least 0 and less than 1. */
export const random = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** Lower-case hex digits. `crypto.randomUUID` is missing on pages that are not secure. */
export const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

export const sleep = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))
