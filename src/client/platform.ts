/**
 * Randomness, clock and timers of the platform.
 * @module
 */

/** At least 0 and less than 1. */
export const random = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** Milliseconds of a monotonic clock. */
export const now = (): number => performance.now()

/** Lower-case hex digits. `crypto.randomUUID` is missing on pages that are not secure. */
export const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Ends early if the signal aborts. Leaves no timer, which would keep a program alive. */
export const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal?.aborted === true ? 0 : ms)
    signal?.addEventListener('abort', end)
  })
