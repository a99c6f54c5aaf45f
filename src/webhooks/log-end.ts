/**
 * The end of the log, by which its reader knows that the log is the one it has read: a database
 * that loses commits, in a failover or by a copy put back, gives their sequences to other entries.
 * @module
 */
import type { Deps } from '../deps.ts'
import { equalBytes } from '../lib/bytes.ts'
import type { LogRange } from '../store/contract.ts'

/** The last entry that was there; without a leaf if all were removed for their age. */
interface LogEnd {
  readonly sequence: number
  readonly leaf: Uint8Array | undefined
}

/** Returns a look that tells whether the last entry of the look before is still there. */
export function makeLogEnd({ store }: Pick<Deps, 'store'>): (range: LogRange) => Promise<boolean> {
  let end: LogEnd | undefined

  async function leafAt(sequence: number, { from }: LogRange): Promise<Uint8Array | undefined> {
    if (sequence < from) return undefined
    const [bundle] = await store.bundles({ from: sequence }, 1)
    return bundle?.leaves[sequence - bundle.first]?.slice()
  }

  async function isStill({ sequence, leaf }: LogEnd, range: LogRange): Promise<boolean> {
    if (leaf === undefined || sequence < range.from) return true
    const now = await leafAt(sequence, range)
    return now !== undefined && equalBytes(now, leaf)
  }

  return async range => {
    const sequence = range.next - 1
    if (end?.sequence === sequence) return true
    const isSame = end === undefined || (await isStill(end, range))
    end = { sequence, leaf: await leafAt(sequence, range) }
    return isSame
  }
}
