/**
 * How many requests are under way, so that a process can end in order.
 *
 * @module
 */

export interface Tally {
  readonly enter: () => void
  readonly leave: () => void
  /** Whether no more requests are taken. */
  readonly isEnding: () => boolean
  /** Takes no more; resolves when all that was under way has its answer. */
  readonly end: () => Promise<void>
}

export function openTally(): Tally {
  let underWay = 0
  let ended: (() => void) | undefined
  return {
    enter() {
      underWay += 1
    },
    leave() {
      underWay -= 1
      if (underWay === 0) ended?.()
    },
    isEnding: () => ended !== undefined,
    end: () =>
      new Promise<void>(resolve => {
        ended = resolve
        if (underWay === 0) resolve()
      }),
  }
}
