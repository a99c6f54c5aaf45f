/**
 * The audit log after a kill, compared with what clients were answered, and verified as an auditor
 * would.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LoggedEntry } from '../../../src/audit/bundle.ts'
import { entriesFrom } from '../../../src/audit/read-log.ts'
import { withLog } from '../../../src/cli/audit/opened-log.ts'
import { runCoffer } from '../../support/coffer-process.ts'
import type { Reveals, Revealed } from './ask.ts'

interface LogPart {
  readonly byTrace: ReadonlyMap<string, LoggedEntry>
  /** Sequence behind the last entry. */
  readonly next: number
  /** Sequences that are missing, or occur twice. */
  readonly gaps: readonly string[]
}

/** Reads a log beside its server, if one runs. @param from the sequence of the first entry */
const readLog = (data: string, from: number): Promise<LogPart> =>
  withLog({ data }, async log => {
    const byTrace = new Map<string, LoggedEntry>()
    const gaps: string[] = []
    let next = from
    for await (const logged of entriesFrom(log, from)) {
      if (logged.sequence !== next) gaps.push(`entry ${logged.sequence} in place of ${next}`)
      next = logged.sequence + 1
      const { traceId } = logged.entry
      if (traceId !== undefined) byTrace.set(traceId, logged)
    }
    return { byTrace, next, gaps }
  })

/** Says what is wrong with the entry of an answer; `undefined` if nothing is. */
function faultOf({ trace, operation, ids }: Revealed, { byTrace }: LogPart): string | undefined {
  const entry = byTrace.get(trace)?.entry
  if (entry === undefined) return `no entry of ${operation} ${trace}`
  const isWhole =
    entry.operation === operation &&
    entry.result === 200 &&
    entry.transform === 'reveal' &&
    ids.every(id => entry.entityIds.includes(id))
  return isWhole ? undefined : `another entry of ${operation} ${trace}`
}

/** Compares answers with the log. @returns what is wrong, and where the next look may begin */
export async function compare(
  { home }: Pick<Reveals, 'home'>,
  answers: readonly Revealed[],
  from: number,
): Promise<{ readonly faults: readonly string[]; readonly next: number }> {
  const log = await readLog(home.data, from)
  const missing = answers.flatMap(answer => faultOf(answer, log) ?? [])
  return { faults: [...log.gaps, ...missing], next: log.next }
}

/** Runs `coffer audit verify`, with the checkpoint that a client kept. @returns what it found */
export async function verify({ home, pinned }: Reveals, vkey: string): Promise<string[]> {
  const args = ['audit', 'verify', '--data', home.data, '--key', vkey]
  if (pinned !== undefined) {
    const file = join(home.temporary, 'pinned.note')
    writeFileSync(file, pinned)
    args.push('--pinned', file)
  }
  const { exitCode, stderr } = await runCoffer(args)
  return exitCode === 0 ? [] : [`audit verify: ${stderr}`]
}

/** The key that signs, as `coffer audit key` prints it. */
export async function readKey({ home }: Pick<Reveals, 'home'>): Promise<string> {
  const { exitCode, stdout, stderr } = await runCoffer(['audit', 'key', '--data', home.data])
  if (exitCode !== 0) throw new Error(`audit key: ${stderr}`)
  return stdout.trim()
}
