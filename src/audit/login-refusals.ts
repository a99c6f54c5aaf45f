/**
 * Refusals of requests without a live key: the first of each address and status at once, then one
 * entry for all alike that follow within a while, so that nobody without a key can fill the log. A
 * network of IPv6 counts as one address: one machine may use all of its addresses.
 * @module
 */
import { networkOf } from '../lib/ip.ts'
import { TextMap } from '../lib/maps.ts'
import { loginAddressesMax, loginWindowMs } from '../limits/work-limits.ts'
import type { AuditEntry } from './entry.ts'

interface Repeated {
  readonly first: AuditEntry
  /** Number of refusals that have no entry yet. */
  count: number
  /** True while all are of the operation and the things of the first. */
  isAlike: boolean
}

export interface LoginRefusals {
  readonly note: (entry: AuditEntry) => void
  /** Enters what has been counted so far. */
  readonly end: () => void
}

const unknownAddress = 'unknown'

/** Name of the refusals that share an entry: of one status, and of one address or network. */
function groupOf({ from = unknownAddress, result }: AuditEntry): string {
  const network = networkOf(from)
  const isSix = network !== undefined && 'high' in network
  return `${result} ${isSix ? `${network.high} ${network.low}` : from}`
}

const isSame = (a: AuditEntry, b: AuditEntry): boolean =>
  a.operation === b.operation && a.entityIds.join('\n') === b.entityIds.join('\n')

/** Returns the entry that they share. */
function entryOf({ first, count, isAlike }: Repeated): AuditEntry {
  const entry = { ...first, traceId: undefined, count }
  return isAlike ? entry : { ...entry, operation: 'several', entityType: undefined, entityIds: [] }
}

/** @param enter takes an entry of the log */
export function makeLoginRefusals(enter: (entry: AuditEntry) => void): LoginRefusals {
  let refused = new TextMap<Repeated>()
  /** Refusals of addresses beyond the bound, by status. */
  let others = new TextMap<Repeated>()
  let timer: NodeJS.Timeout | undefined

  const end = (): void => {
    clearTimeout(timer)
    timer = undefined
    const [groups, rest] = [[...refused], [...others]]
    refused = new TextMap()
    others = new TextMap()
    for (const [, each] of groups) if (each.count > 0) enter(entryOf(each))
    for (const [, each] of rest) enter({ ...entryOf(each), from: undefined })
  }

  return {
    note(entry) {
      timer ??= setTimeout(end, loginWindowMs).unref()
      const group = groupOf(entry)
      const isNew = refused.get(group) === undefined
      const isBeyond = isNew && refused.size >= loginAddressesMax
      const [groups, name] = isBeyond ? [others, String(entry.result)] : [refused, group]
      const shared = groups.get(name) ?? { first: entry, count: 0, isAlike: true }
      groups.set(name, shared)
      if (isNew && !isBeyond) {
        enter(entry)
        return
      }
      shared.count += 1
      shared.isAlike &&= isSame(shared.first, entry)
    },
    end,
  }
}
