/**
 * Waits for a state, however slow the machine is.
 * @module
 */

/** Ends a wait that would never end; no measure of the machine's speed. */
const waitMsMax = 300_000

/** Waits until it is true. @throws Error when it never is */
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
