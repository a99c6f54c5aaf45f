/**
 * The resolver and the timer of a running vault, as `send.ts` takes them.
 * @module
 */
import { lookup } from 'node:dns/promises'
import type { EgressDeps } from './send.ts'

export const systemEgress: Pick<EgressDeps, 'resolve' | 'startTimer'> = {
  /** Asks as other programs of the machine do, with its list of hosts. */
  resolve: async name => (await lookup(name, { all: true })).map(({ address }) => address),
  startTimer: (ms, end) => {
    const timer = setTimeout(end, ms)
    return () => clearTimeout(timer)
  },
}
