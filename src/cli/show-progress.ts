/**
 * Progress of long work on stderr: a bar on a terminal, otherwise a line at each tenth, and nothing
 * for vaults that take no time.
 * @module
 */
import {
  progressBarChars,
  progressDrawMs,
  progressFileBytesMin,
  progressLineMs,
} from '../limits/operation-limits.ts'
import { noProgress, type BeginProgress } from '../lib/progress.ts'
import { elapsedMs, stderrNow } from '../server/process/system.ts'

/** Destination of progress. Each text is written before this returns, because the work blocks. */
export interface ProgressStream {
  readonly isTerminal: boolean
  readonly write: (text: string) => void
}

/** Form in which progress is shown, from 0 to 1. */
interface Style {
  /** Progress that must be made before it is shown again. */
  readonly step: number
  readonly pauseMs: number
  readonly draw: (part: number, what: string) => string
  /** Last text for a piece of work. */
  readonly end: (what: string) => string
}

const percent = (part: number): string => `${Math.floor(100 * part)} %`

const bar: Style = {
  step: 0.01,
  pauseMs: progressDrawMs,
  draw(part, what) {
    const filled = Math.floor(progressBarChars * part)
    const drawn = '#'.repeat(filled).padEnd(progressBarChars, '-')
    return `\r${what.padEnd(10)} [${drawn}] ${percent(part).padStart(5)}`
  },
  // Erased, so that the output of the command stands alone.
  end: () => '\r\u001b[K',
}

const lines: Style = {
  step: 0.1,
  pauseMs: progressLineMs,
  draw: (part, what) => `${what}: ${percent(part)}\n`,
  end: what => `${what}: 100 %\n`,
}

export interface ProgressMeter {
  readonly progress: BeginProgress
  /** Ends the work in progress. */
  readonly end: () => void
}

/** @param now milliseconds that only rise */
export function makeMeter({ isTerminal, write }: ProgressStream, now: () => number): ProgressMeter {
  const style = isTerminal ? bar : lines
  let what: string | undefined
  const end = (): void => {
    if (what !== undefined) write(style.end(what))
    what = undefined
  }
  return {
    end,
    progress(total, next) {
      end()
      what = next
      let drawnMs = now()
      if (isTerminal) write(style.draw(0, next))
      const step = Math.max(total * style.step, 1)
      let from = step
      return done => {
        if (done < from || done >= total) return
        from = step * (Math.floor(done / step) + 1)
        if (now() - drawnMs < style.pauseMs) return
        drawnMs = now()
        write(style.draw(done / total, next))
      }
    },
  }
}

interface ProgressOptions {
  /** Size of the file that is worked on. */
  readonly bytes: number
  readonly json?: boolean
}

/** Runs a task and shows its progress; with `json` it shows nothing. */
export async function withProgress<T>(
  { bytes, json }: ProgressOptions,
  task: (progress: BeginProgress) => Promise<T>,
): Promise<T> {
  if (json === true || bytes < progressFileBytesMin) return task(noProgress)
  const { progress, end } = makeMeter(stderrNow, elapsedMs)
  try {
    return await task(progress)
  } finally {
    end()
  }
}
