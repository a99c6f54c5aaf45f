/**
 * Reports of an import: its progress, and the outcome of its rows.
 * @module
 */
import { bulkToldMs } from '../../limits/operation-limits.ts'
import { CommandFailure } from '../../server/process/failure.ts'
import { elapsedMs, sayJson, sayNow, stderrNow } from '../../server/process/system.ts'
import { counted } from '../table.ts'

export interface ImportCounts {
  created: number
  equal: number
  rejected: number
  blank: number
  done: number
}

export const noCounts = (): ImportCounts => ({
  created: 0,
  equal: 0,
  rejected: 0,
  blank: 0,
  done: 0,
})

interface TellOptions {
  readonly json?: boolean
  readonly dryRun?: boolean
  readonly report?: string
}

const was = ['was', 'were'] as const

function inTheEnd(
  isDry: boolean,
  { created, equal, rejected, blank, done }: ImportCounts,
): string[] {
  return [
    isDry
      ? `${counted(created, 'row')} would be taken.`
      : `${counted(created, 'token', was)} created.`,
    ...(equal === 0 ? [] : [`${counted(equal, 'row', was)} equal to tokens that there are.`]),
    ...(done === 0
      ? []
      : [`${counted(done, 'row', was)} sent before; what they gave cannot be told again.`]),
    `${counted(rejected, 'row', was)} rejected, ${blank} ${blank === 1 ? 'was' : 'were'} blank.`,
    ...(isDry ? ['Not checked: ids that the vault has, and where the key may write.'] : []),
  ]
}

/** @throws CommandFailure if rows were rejected */
export function tellEnd({ json, dryRun, report }: TellOptions, counts: ImportCounts): void {
  const { created, equal, rejected, blank, done } = counts
  const isDry = dryRun === true
  if (json === true) {
    sayJson({ dry_run: isDry, created, equal, rejected, blank, done_before: done })
  } else sayNow(...inTheEnd(isDry, counts))
  if (rejected === 0) return
  const where = report === undefined ? '' : `, as the file at ${report} says`
  throw new CommandFailure(`${counted(rejected, 'row', was)} rejected${where}`)
}

/** Reports a line now and then, if somebody may read it. */
export function makeTeller({ json, dryRun }: TellOptions, counts: ImportCounts): () => void {
  let toldMs = elapsedMs()
  const what = dryRun === true ? 'would be taken' : 'are in'
  return () => {
    if (json === true || elapsedMs() - toldMs < bulkToldMs) return
    toldMs = elapsedMs()
    const { created, equal, rejected, done } = counts
    stderrNow.line(`${created + equal + done} rows ${what}, ${rejected} were rejected`)
  }
}

/** Says why an import ended that somebody interrupted, and what to do. */
export const interrupted = ({ dryRun }: TellOptions, line: number): CommandFailure =>
  new CommandFailure(
    dryRun === true
      ? 'interrupted: nothing was stored'
      : `interrupted behind line ${line}: what is in stays in, and --resume goes on with the rest`,
  )
