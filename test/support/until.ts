/**
 * Waits for a state, however slow the machine is.
 * @module
 */

/** It ends a wait for what never comes, and says nothing of how fast a machine is. */
const waitMsMax = 300_000

/** Waits until it is so. @throws Error when it never is */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  msMax = waitMsMax,
): Promise<void> {
  const endMs = performance.now() + msMax
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error('waited in vain')
    await Bun.sleep(5)
  }
}
