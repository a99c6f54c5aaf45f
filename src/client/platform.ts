/**
 * What the client takes from the platform that it runs on.
 * @module
 */

/** At least 0 and less than 1. */
export const random = (): number => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32

/** Milliseconds from some beginning, that never go back. */
export const now = (): number => performance.now()

/** Lower-case hexadecimal digits. `crypto.randomUUID` is missing where a page is not secure. */
export const randomHex = (bytes: number): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), byte =>
    byte.toString(16).padStart(2, '0'),
  ).join('')

/** Shorter where the signal says so. Then no timer is left: it would keep a program from ending. */
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
