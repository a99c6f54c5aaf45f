/**
 * The end of the log, by which its reader knows that the log is the one it has read: a database
 * that loses commits, in a failover or by a copy put back, gives their sequences to other entries.
 * @module
 */
import { equalBytes } from '../lib/bytes.ts'
import { nextFlight } from '../lib/serial.ts'
import { logMarkBytes } from '../limits/work-limits.ts'
import type { Change, LogRange, Store } from '../store/contract.ts'

/** The last entry that was there; without a leaf if all were removed for their age. */
interface LastEntry {
  readonly sequence: number
  readonly leaf: Uint8Array | undefined
}

export interface LogEnd {
  /**
   * Looks whether the last entry that was seen is still there, and sees the one of `range`. Once it
   * is not, each answer is false.
   */
  readonly look: (range: LogRange) => Promise<boolean>
  /**
   * Returns a requirement that holds only in a database that has all entries of the ranges that
   * were looked at, and so what was read of them between that look and this call. One that loses
   * them loses the mark written here behind them, or gets it without them.
   * @returns `undefined` if the log has lost its end
   */
  readonly requirement: () => Promise<Change | undefined>
}

export interface LogEndParts {
  readonly store: Pick<Store, 'write' | 'bundles' | 'logRange'>
  readonly randomBytes: (count: number) => Uint8Array
}

/** @param markKey key of the mark that `requirement` writes; one reader has it */
export function makeLogEnd({ store, randomBytes }: LogEndParts, markKey: Uint8Array): LogEnd {
  let last: LastEntry | undefined
  let isLost = false

  async function leafAt(sequence: number, { from }: LogRange): Promise<Uint8Array | undefined> {
    if (sequence < from) return undefined
    const [bundle] = await store.bundles({ from: sequence }, 1)
    return bundle?.leaves[sequence - bundle.first]?.slice()
  }

  async function isStill({ sequence, leaf }: LastEntry, range: LogRange): Promise<boolean> {
    if (leaf === undefined || sequence < range.from) return true
    const now = await leafAt(sequence, range)
    return now !== undefined && equalBytes(now, leaf)
  }

  async function compare(range: LogRange): Promise<boolean> {
    isLost ||= last !== undefined && !(await isStill(last, range))
    const sequence = range.next - 1
    if (!isLost && (last === undefined || sequence > last.sequence)) {
      last = { sequence, leaf: await leafAt(sequence, range) }
    }
    return !isLost
  }

  const requirement = nextFlight(async (): Promise<Change | undefined> => {
    const mark = randomBytes(logMarkBytes)
    await store.write([{ derived: markKey, value: mark }])
    const isAsRead = await compare(await store.logRange())
    return isAsRead ? { requireDerived: markKey, ifValue: mark } : undefined
  })

  return {
    // A log that grew to the same length again is noticed with its next entry.
    look: async range => (last?.sequence === range.next - 1 ? !isLost : compare(range)),
    requirement,
  }
}
