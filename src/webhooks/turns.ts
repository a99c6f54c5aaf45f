/**
 * The turns to send that all webhooks share. A turn that is given back goes to a webhook of the
 * tenant that holds the fewest: so receivers that hold turns for long, however many they are, get
 * none while another waits with fewer.
 *
 * A webhook that is disabled or deleted leaves its requests under way, and one that takes its place
 * begins anew: so turns are counted, and bounded, for each tenant.
 * @module
 */

export interface Sharer {
  readonly tenantId: string
  /** Number of turns that it has. */
  readonly underWay: () => number
  /** Takes what it can use. */
  readonly start: () => void
}

export interface SendTurns {
  /** @returns false if there is none for it; then it is started once one is given back */
  readonly take: (sharer: Sharer) => boolean
  readonly give: (sharer: Sharer) => void
  /** Starts it no more. */
  readonly leave: (sharer: Sharer) => void
  readonly taken: () => number
}

export function makeTurns(max: { readonly all: number; readonly tenant: number }): SendTurns {
  const waiting = new Set<Sharer>()
  const byTenant = new Map<string, number>()
  let taken = 0

  const heldBy = ({ tenantId }: Sharer): number => byTenant.get(tenantId) ?? 0
  const hasOneFor = (sharer: Sharer): boolean => taken < max.all && heldBy(sharer) < max.tenant

  const holdsFewer = (a: Sharer, b: Sharer): boolean => {
    const more = heldBy(a) - heldBy(b)
    return more === 0 ? a.underWay() < b.underWay() : more < 0
  }

  function change(sharer: Sharer, by: 1 | -1): void {
    const held = heldBy(sharer) + by
    if (held > 0) byTenant.set(sharer.tenantId, held)
    else byTenant.delete(sharer.tenantId)
    taken += by
  }

  function takeNext(): Sharer | undefined {
    let next: Sharer | undefined
    for (const each of waiting) {
      if (hasOneFor(each) && (next === undefined || holdsFewer(each, next))) next = each
    }
    if (next !== undefined) waiting.delete(next)
    return next
  }

  return {
    take(sharer) {
      if (!hasOneFor(sharer)) {
        waiting.add(sharer)
        return false
      }
      change(sharer, 1)
      return true
    },
    give(sharer) {
      change(sharer, -1)
      for (let next = takeNext(); next !== undefined; next = takeNext()) next.start()
    },
    leave: sharer => void waiting.delete(sharer),
    taken: () => taken,
  }
}
