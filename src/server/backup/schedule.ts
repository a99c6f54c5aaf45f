/**
 * Scheduled backups of a server, one after the other: each by a process of the same program, which
 * slows nobody down and checks for itself if a backup is due.
 *
 * The next time depends only on the newest backup in the place, so that a restart neither skips a
 * backup nor makes an extra one.
 * @module
 */
import { setTimeout } from 'node:timers/promises'
import type { Log } from '../../deps.ts'
import {
  backupLateIntervalsMax,
  backupRetryMsMin,
  backupTurnMsMin,
} from '../../limits/operation-limits.ts'
import type { BackupPlan } from '../../settings/serving-settings.ts'
import type { FolderOptions } from '../folder/data-folder.ts'
import type { SealSwitch } from '../keys/sealing.ts'
import { ownProgram } from '../process/system.ts'
import { watchStates } from '../watch/states.ts'
import { openPlace } from './backup-place.ts'
import type { Facts } from '../../vault/operator/operator-operation.ts'

/** Input of the process on stdin, as JSON. It holds no secret. */
export interface BackupOrder {
  readonly parent: number
  readonly folder: FolderOptions
  readonly plan: BackupPlan
}

/** Output of the process on stdout, as JSON. */
export interface BackupTurn {
  /** Unix time of the newest backup; absent if there is none. */
  readonly newestMs?: number
  /** The backup that was made; absent if none was due. */
  readonly made?: { readonly name: string; readonly bytes: number; readonly removed: number }
  /** Reason why a due backup was not made, or an old one not removed. */
  readonly failed?: { readonly code: string; readonly reason?: string }
}

interface BackupCounts {
  /** Age of the newest backup; absent if there is none. */
  readonly ageMs?: number | undefined
  readonly made: number
  readonly failed: number
}

export interface BackupSchedule {
  readonly everyMs: number
  /** The configured place of backups. */
  readonly to: string
  readonly counts: () => BackupCounts
  /** True if late by more than `backupLateIntervalsMax` intervals of this process. */
  readonly isOverdue: () => boolean
  /** Ends a running backup, and begins none until `resume`. */
  readonly hold: () => Promise<void>
  readonly resume: () => void
  /** Ends a running backup, and removes its leftovers. */
  readonly stop: () => Promise<void>
}

export interface ScheduleParts {
  readonly plan: BackupPlan
  readonly wallMs: () => number
  readonly log: Log
  /** Does one turn; ends at once if the signal is aborted. */
  readonly turn: (signal: AbortSignal) => Promise<BackupTurn>
  readonly clear: () => void
}

/** @returns the time until the next turn */
function waitOf({ newestMs, failed }: BackupTurn, failures: number, parts: ScheduleParts): number {
  const { plan, wallMs } = parts
  const retryMs = Math.min(plan.everyMs, backupRetryMsMin * 2 ** Math.min(failures - 1, 30))
  if (failed !== undefined) return retryMs
  const dueMs = newestMs === undefined ? 0 : newestMs + plan.everyMs - wallMs()
  // If the clock was set back, the difference says nothing about the due time.
  return Math.min(plan.everyMs, Math.max(backupRetryMsMin, dueMs))
}

/** Ends early, and not as a failure, when the signal says so. */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(ms, undefined, { signal }).catch(() => {})

/** Runs until it is stopped, whatever fails. */
export function startSchedule(parts: ScheduleParts): BackupSchedule {
  const { plan, wallMs, log, turn, clear } = parts
  const stopping = new AbortController()
  const { signal } = stopping
  const startedMs = wallMs()
  let newest: number | undefined
  const counts = { made: 0, failed: 0 }
  let failures = 0
  let held: PromiseWithResolvers<void> | undefined
  let turning: { readonly ending: AbortController; readonly ended: Promise<unknown> } | undefined

  function note({ newestMs, made, failed }: BackupTurn): void {
    newest = newestMs ?? newest
    counts.made += made ? 1 : 0
    counts.failed += failed ? 1 : 0
    failures = failed ? failures + 1 : 0
    if (made) log('backup_made', made)
    if (failed) log('backup_failed', failed)
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const ending = new AbortController()
      const ended = turn(AbortSignal.any([signal, ending.signal]))
      turning = { ending, ended }
      const told = await ended
      turning = undefined
      if (!ending.signal.aborted && !signal.aborted) {
        note(told)
        await pause(waitOf(told, failures, parts), signal)
      }
      while (held !== undefined) await held.promise
    }
  }

  function resume(): void {
    held?.resolve()
    held = undefined
  }

  function isOverdue(): boolean {
    const sinceMs = Math.max(startedMs, newest ?? startedMs)
    return wallMs() - sinceMs > (1 + backupLateIntervalsMax) * plan.everyMs
  }

  const late = { begins: 'backup_late', ends: 'backup_on_time', is: isOverdue }
  const stopLooking = watchStates([late], log)
  const running = run()
  return {
    everyMs: plan.everyMs,
    to: plan.to,
    counts: () => ({ ...counts, ageMs: newest === undefined ? undefined : wallMs() - newest }),
    isOverdue,
    async hold() {
      held ??= Promise.withResolvers()
      turning?.ending.abort()
      await turning?.ended
    },
    resume,
    async stop() {
      stopLooking()
      stopping.abort()
      resume()
      await running
      clear()
    },
  }
}

/** No backup runs while the vault is sealed: its process has the master key. */
export function sealedWith<T>(
  sealing: SealSwitch<T>,
  backups: Pick<BackupSchedule, 'hold' | 'resume'> | undefined,
): SealSwitch<T> {
  return {
    current: sealing.current,
    async unseal(masterKey) {
      await sealing.unseal(masterKey)
      backups?.resume()
    },
    async seal() {
      await sealing.seal()
      await backups?.hold()
    },
  }
}

/** Output in any other form is not from this program. */
function parseTurn(text: string): BackupTurn | undefined {
  try {
    const turn: unknown = JSON.parse(text)
    return typeof turn === 'object' && turn !== null ? turn : undefined
  } catch {
    return undefined
  }
}

/** Runs one turn in a process of its own. It never rejects. */
async function takeTurn(order: BackupOrder, signal: AbortSignal): Promise<BackupTurn> {
  const hung = AbortSignal.timeout(Math.max(order.plan.everyMs, backupTurnMsMin))
  try {
    const child = Bun.spawn([...ownProgram(), 'scheduled-backup'], {
      argv0: 'coffer',
      stdio: [Buffer.from(JSON.stringify(order)), 'pipe', 'inherit'],
      signal: AbortSignal.any([signal, hung]),
      killSignal: 'SIGKILL',
    })
    const turn = parseTurn(await new Response(child.stdout).text())
    const exitCode = await child.exited
    if (turn !== undefined) return turn
    const ended = child.signalCode === null ? `exit ${exitCode}` : String(child.signalCode)
    return { failed: { code: hung.aborted ? 'hung' : ended } }
  } catch {
    // For example, no further process may be started, which may pass.
    return { failed: { code: 'not_started' } }
  }
}

/**
 * Makes backups of a served folder from now on.
 * @throws CommandFailure for an invalid place
 */
export function startBackups(
  folder: FolderOptions,
  plan: BackupPlan,
  { wallMs, log }: Pick<ScheduleParts, 'wallMs' | 'log'>,
): BackupSchedule {
  const { assertThere, clear } = openPlace(plan.to, folder.data)
  assertThere()
  const order = { parent: process.pid, folder, plan }
  return startSchedule({ plan, wallMs, log, clear, turn: signal => takeTurn(order, signal) })
}

/**
 * Facts about backups for `coffer status`, the same as in the metrics.
 * @param backups absent if the server makes none
 */
export function factsOfBackups(backups: BackupSchedule | undefined): Facts {
  if (backups === undefined) return { backup_to: null }
  const { ageMs, made, failed } = backups.counts()
  return {
    backup_to: backups.to,
    backup_age_seconds: ageMs === undefined ? null : Math.floor(ageMs / 1_000),
    backups_made: made,
    backups_failed: failed,
    backup_overdue: backups.isOverdue(),
  }
}
