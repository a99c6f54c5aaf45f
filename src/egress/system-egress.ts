/**
 * The resolver and the timer of a running vault, as `send.ts` takes them.
 * @module
 */
import { dns } from 'bun'
import type { EgressDeps } from './send.ts'

/** Names below these the runtime looks up in its threads, unless a dot ends them. */
const looksUpInThreads = /\.(?:local|localhost)$/

export const systemEgress: Pick<EgressDeps, 'resolve' | 'startTimer'> = {
  /**
   * Asks the servers of the machine, after its list of hosts.
   *
   * The resolver of the system would hold a thread for each question. There are as few of those as
   * processors, and they write commits as well: a server of names that did not answer would end the
   * vault.
   */
  async resolve(name) {
    const absolute = looksUpInThreads.test(name) ? `${name}.` : name
    const found = await dns.lookup(absolute, { backend: 'c-ares' })
    return found.map(({ address }) => address)
  },
  startTimer: (ms, end) => {
    const timer = setTimeout(end, ms)
    return () => clearTimeout(timer)
  },
}
