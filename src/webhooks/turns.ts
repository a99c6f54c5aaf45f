/**
 * The turns to send that all webhooks share. A turn that is given back goes to the waiting webhook
 * that holds the fewest: so receivers that hold turns for long, however many they are, get none
 * while another waits with fewer.
 * @module
 */

interface Sharer {
  /** Number of turns that it has. */
  readonly underWay: () => number
  /** Takes what it can use. */
  readonly start: () => void
}

export interface SendTurns {
  /** @returns false if all are taken; then the sharer is started once one is given back */
  readonly take: (sharer: Sharer) => boolean
  readonly give: () => void
  readonly taken: () => number
}

export function makeTurns(turnsMax: number): SendTurns {
  const waiting = new Set<Sharer>()
  let taken = 0

  function takeNext(): Sharer | undefined {
    let next: Sharer | undefined
    for (const each of waiting) {
      if (next === undefined || each.underWay() < next.underWay()) next = each
    }
    if (next !== undefined) waiting.delete(next)
    return next
  }

  return {
    take(sharer) {
      if (taken >= turnsMax) {
        waiting.add(sharer)
        return false
      }
      taken += 1
      return true
    },
    give() {
      taken -= 1
      while (taken < turnsMax) {
        const next = takeNext()
        if (next === undefined) return
        next.start()
      }
    },
    taken: () => taken,
  }
}
