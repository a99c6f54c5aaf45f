/**
 * Looks at the head of the log, which all share who wait for events: so waiting costs the store as
 * much for hundreds as for one.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { feedLookMs } from '../limits/work-limits.ts'

/** Resolves a moment later, with the sequence of the next entry. */
export type LookAtLog = () => Promise<number>

export function makeLogLooks({ store }: Pick<Deps, 'store'>): LookAtLog {
  let looking: Promise<number> | undefined
  async function look(): Promise<number> {
    await setTimeout(feedLookMs)
    looking = undefined
    return (await store.logRange()).next
  }
  return () => (looking ??= look())
}
