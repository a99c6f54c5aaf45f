/**
 * The end of a sitting that nobody attends. The clock is asked at each look, so that a machine that
 * slept is found idle when it wakes, before a key press counts.
 * @module
 */

interface IdleOptions {
  readonly nowMs: () => number
  readonly idleMsMax: number
  readonly onIdle: () => void
}

/** @returns `touch` for signs of life, and `look` for now and then */
export function watchIdle({ nowMs, idleMsMax, onIdle }: IdleOptions) {
  let lastMs = nowMs()
  const isOver = (): boolean => nowMs() - lastMs >= idleMsMax
  return {
    touch(): void {
      if (isOver()) onIdle()
      lastMs = nowMs()
    },
    look(): void {
      if (!isOver()) return
      lastMs = nowMs()
      onIdle()
    },
  }
}
