/**
 * Refusals of requests without a live key: the first of each address at once, then one entry for
 * all that follow within a while, so that nobody without a key can fill the log.
 * @module
 */
import { TextMap } from '../lib/maps.ts'
import { loginAddressesMax, loginWindowMs } from '../limits/work-limits.ts'
import type { AuditEntry } from './entry.ts'

interface Repeated {
  readonly first: AuditEntry
  /** Number of refusals after the first. */
  count: number
}

export interface LoginRefusals {
  readonly note: (entry: AuditEntry) => void
  /** Enters what has been counted so far. */
  readonly end: () => void
}

const unknownAddress = 'unknown'

/** @param enter takes an entry of the log */
export function makeLoginRefusals(enter: (entry: AuditEntry) => void): LoginRefusals {
  let refused = new TextMap<Repeated>()
  /** Refusals of addresses beyond the bound. */
  let others: Repeated | undefined
  let timer: NodeJS.Timeout | undefined

  const end = (): void => {
    clearTimeout(timer)
    timer = undefined
    const repeated = [...refused].map(([, each]) => each)
    refused = new TextMap()
    for (const { first, count } of repeated) {
      if (count > 0) enter({ ...first, traceId: undefined, count })
    }
    if (others !== undefined) {
      enter({ ...others.first, traceId: undefined, from: undefined, count: others.count })
    }
    others = undefined
  }

  return {
    note(entry) {
      timer ??= setTimeout(end, loginWindowMs).unref()
      const address = entry.from ?? unknownAddress
      const known = refused.get(address)
      if (known !== undefined) known.count += 1
      else if (refused.size < loginAddressesMax) {
        refused.set(address, { first: entry, count: 0 })
        enter(entry)
      } else {
        others ??= { first: entry, count: 0 }
        others.count += 1
      }
    },
    end,
  }
}
