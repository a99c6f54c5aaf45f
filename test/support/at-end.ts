/**
 * Ends the processes of tests, such as browsers, that would otherwise stay.
 *
 * This is no hook of a test file: several files share one process, and a hook of a file that they
 * import runs for the first of them alone. `after-all-tests.ts` runs these after the last.
 * @module
 */

const ends: (() => unknown)[] = []

export const atEnd = (end: () => unknown): void => void ends.push(end)

/** Ends the last one first; if one fails, the others still end. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) {
    try {
      await end()
    } catch (error) {
      console.error(error)
    }
  }
}
