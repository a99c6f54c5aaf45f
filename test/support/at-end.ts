/**
 * What a process of tests leaves behind unless somebody ends it, such as browsers.
 *
 * Not with a test file: several files share one process, and a hook of a file that they import runs
 * for the first of them alone. `after-all-tests.ts` runs these after the last.
 * @module
 */

const ends: (() => unknown)[] = []

export const atEnd = (end: () => unknown): void => void ends.push(end)

/** The last that was begun ends first; one that fails keeps no other from it. */
export async function endAll(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) {
    try {
      await end()
    } catch (error) {
      console.error(error)
    }
  }
}
