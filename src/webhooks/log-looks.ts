/**
 * Looks at the head of the log, shared by all who wait for events: hundreds who wait cost the
 * store no more than one.
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
