/**
 * Waits for a state, however slow the machine is.
 * @module
 */

/** Ends a wait that would never end; no measure of the machine's speed. */
const waitMsMax = 300_000
/** Between two looks: short at first, so that a brief state is seen, then a share of the wait. */
const pauseMs = { least: 5, most: 50, share: 0.02 }

/** Waits until it is true. @throws Error when it never is */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  msMax = waitMsMax,
): Promise<void> {
  const startMs = performance.now()
  while (!(await isSo())) {
    const waitedMs = performance.now() - startMs
    if (waitedMs > msMax) throw new Error('waited in vain')
    await Bun.sleep(Math.min(Math.max(waitedMs * pauseMs.share, pauseMs.least), pauseMs.most))
  }
}
