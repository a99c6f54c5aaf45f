/**
 * Lines of a witness about its answers: the first of a log and status at once, then one for all
 * alike that follow within a while, so that nobody can fill a disk by sending public notes again.
 * @module
 */
import { witnessTellMs } from '../../limits/operation-limits.ts'

export interface ToldLines {
  readonly tell: (status: number, origin: string) => void
  /** Says what has been counted so far. */
  readonly end: () => void
}

/** Kinds of lines are few, since a witness tells of the logs that it knows alone. */
export function makeToldLines(say: (line: string) => void): ToldLines {
  let following = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined

  const end = (): void => {
    clearTimeout(timer)
    timer = undefined
    const counted = following
    following = new Map()
    for (const [kind, count] of counted) if (count > 0) say(`${kind} and ${count} more`)
  }

  return {
    tell(status, origin) {
      timer ??= setTimeout(end, witnessTellMs).unref()
      const kind = `${status} ${origin}`
      const count = following.get(kind)
      if (count === undefined) say(kind)
      following.set(kind, (count ?? -1) + 1)
    },
    end,
  }
}
