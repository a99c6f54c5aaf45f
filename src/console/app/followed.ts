/**
 * A log that is followed. Rows that somebody points at or has the focus in stay where they are:
 * newer entries are counted meanwhile, and come once the rows are left or they are asked for.
 * @module
 */
import { useCallback, useEffect, useRef } from 'preact/hooks'
import type { LogEntry, LogList } from '../../client/interface.ts'
import { known, useAnswer, useAsking } from './asked.ts'
import { followMs } from './limits.ts'
import { every } from './platform.ts'

const newestOf = (entries: readonly LogEntry[]): number =>
  Math.max(0, ...entries.map(({ sequence }) => sequence))

/** @returns also `rows`, for the element around the rows, and `ahead`: entries newer than those */
export function useFollowed(path: string, isFollowed: boolean) {
  const { asked, again } = useAnswer<LogList>({ path })
  const { asked: looked, run, drop } = useAsking<LogList>()
  const rows = useRef<HTMLDivElement>(null)
  const show = useCallback(() => {
    drop()
    again()
  }, [again, drop])
  useEffect(() => {
    if (!isFollowed) return undefined
    const end = every(followMs, () => {
      if (rows.current?.matches(':is(:hover, :focus-within)') === true) void run({ path })
      else show()
    })
    return () => {
      end()
      drop()
    }
  }, [isFollowed, path, show, run, drop])
  const newest = newestOf(known(asked.value)?.data ?? [])
  const ahead = (known(looked.value)?.data ?? []).filter(({ sequence }) => sequence > newest)
  return { asked, again, rows, ahead, show }
}
