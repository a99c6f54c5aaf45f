/**
 * The supervisor: keeps a number of workers running, and ends them together.
 *
 * A worker that ends by itself, for any reason, is restarted: at once, then after growing pauses if
 * this repeats. If a worker has never listened, the instance ends, so that the service manager
 * notices; if it once has, the others serve on and restarts are tried for ever. A worker is only
 * started once its predecessor has ended, so there is never more than one per index.
 * @module
 */
import type { Log } from '../../deps.ts'
import {
  workerReadyMsMax,
  workerRestartMsMax,
  workerRestartMsMin,
  workerStartsMax,
  workerSteadyMs,
  workerStopMsMax,
} from '../../limits/operation-limits.ts'
import { afterTurning } from '../../lib/turning-time.ts'
import { CommandFailure, systemCodeOf } from './failure.ts'
import type { WorkerEnd, WorkerProcess } from './worker-process.ts'

export interface SupervisorParts {
  readonly start: (index: number) => WorkerProcess
  /** Makes other workers recheck locks that an ended worker may have left behind. */
  readonly wakeOthers: () => void
  readonly elapsedMs: () => number
  readonly log: Log
  /** Time for which a worker serves on after it was told to end. */
  readonly drainMs: number
}

export interface Supervisor {
  /** Resolves once all workers have listened. */
  readonly isReady: Promise<unknown>
  /** Rejects with a CommandFailure if a worker cannot be started for the first time. */
  readonly failed: Promise<never>
  /** Makes each listening worker reload its certificates. */
  reload(): void
  /** The workers that listen now. */
  readonly listening: () => readonly WorkerProcess[]
  /** Number of restarts of each worker. */
  readonly restarts: () => readonly number[]
  readonly isStopping: () => boolean
  /** True if each listening worker has reported within that time that it is well. */
  readonly isWell: (silentMsMax: number) => boolean
  /** Ends all workers, in order or else by force; resolves when none is left. */
  stop(): Promise<void>
}

interface SupervisorState {
  readonly running: Set<WorkerProcess>
  /** The running workers that listen. */
  readonly ready: Set<WorkerProcess>
  /** Number of restarts of each worker. */
  readonly restarts: number[]
  /** Number of reloads of certificates so far. */
  reloads: number
  /** Resolves when no more workers are to be started. */
  readonly stopping: PromiseWithResolvers<void>
  isStopping: boolean
}

/** Pause after the `count`th short life in a row. */
const restartMsOf = (count: number): number =>
  Math.min(workerRestartMsMax, workerRestartMsMin * 2 ** Math.min(count, 30))

interface WorkerLife {
  /** True if it has listened. */
  readonly wasReady: boolean
  readonly livedMs: number
}

/** Signals by which the processor or the runtime ends a process, as at a damaged page. */
const nativeSignals = ['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP']

const adviceFor = (end: WorkerEnd): { readonly text?: string } =>
  'signal' in end && nativeSignals.includes(end.signal)
    ? { text: 'a damaged page may have ended it: coffer verify --online looks at all of them' }
    : {}

const factsOf = (end: WorkerEnd) =>
  'signal' in end ? { signal: end.signal } : { exit_code: end.exitCode }

/** @returns true if it listens; a worker that hangs before is killed */
async function becomeReady(worker: WorkerProcess, onOverdue: () => void): Promise<boolean> {
  const callOff = afterTurning(workerReadyMsMax, () => {
    onOverdue()
    worker.signal('SIGKILL')
  })
  const wasReady = await worker.isReady
  callOff()
  return wasReady
}

/** Runs one life of a worker, from its start to its end. */
async function live(
  { start, wakeOthers, elapsedMs, log }: SupervisorParts,
  state: SupervisorState,
  index: number,
  onReady: () => void,
): Promise<WorkerLife> {
  const startedMs = elapsedMs()
  let worker: WorkerProcess
  try {
    worker = start(index)
  } catch (error) {
    // For example, no further process may be started, which may pass.
    log('worker_not_started', { worker: index, cause: systemCodeOf(error) ?? 'unknown' })
    return { wasReady: false, livedMs: 0 }
  }
  state.running.add(worker)
  const { reloads } = state
  const wasReady = await becomeReady(worker, () => log('worker_overdue', { worker: index }))
  if (wasReady) {
    state.ready.add(worker)
    // It may have read the previous certificates.
    if (state.reloads !== reloads) worker.signal(reloadSignal)
    onReady()
  }
  const end = await worker.ended
  state.running.delete(worker)
  state.ready.delete(worker)
  wakeOthers()
  if (!state.isStopping) log('worker_ended', { worker: index, ...factsOf(end), ...adviceFor(end) })
  return { wasReady, livedMs: elapsedMs() - startedMs }
}

/** @throws CommandFailure if too many starts fail in a row, before it has ever listened */
async function keepRunning(
  parts: SupervisorParts,
  state: SupervisorState,
  index: number,
  onReady: () => void,
): Promise<void> {
  let shortLives = 0
  let failedStarts = 0
  let wasEverReady = false
  while (!state.isStopping) {
    const { wasReady, livedMs } = await live(parts, state, index, onReady)
    if (state.isStopping) return
    wasEverReady ||= wasReady
    failedStarts = wasReady ? 0 : failedStarts + 1
    if (failedStarts === workerStartsMax) {
      if (!wasEverReady) {
        throw new CommandFailure('a worker ends before it listens, again and again: stopped')
      }
      // The others serve on, and the obstacle may pass.
      parts.log('worker_missing', { worker: index })
    }
    if (livedMs >= workerSteadyMs) shortLives = 0
    await Promise.race([Bun.sleep(restartMsOf(shortLives)), state.stopping.promise])
    shortLives += 1
    state.restarts[index] = (state.restarts[index] ?? 0) + 1
  }
}

async function stopAll({ running }: SupervisorState, drainMs: number): Promise<void> {
  const left = [...running]
  for (const worker of left) worker.signal('SIGTERM')
  const ended = Promise.all(left.map(worker => worker.ended))
  const inOrder = await Promise.race([ended, Bun.sleep(workerStopMsMax + drainMs)])
  if (inOrder !== undefined) return
  for (const worker of running) worker.signal('SIGKILL')
  await ended
}

/** It would end a process that does not listen yet, which reads the files later anyway. */
const reloadSignal = 'SIGHUP'

function reloadAll(state: SupervisorState): void {
  state.reloads += 1
  for (const worker of state.ready) worker.signal(reloadSignal)
}

/** Starts the workers 0 to `count` - 1. */
export function makeSupervisor(count: number, parts: SupervisorParts): Supervisor {
  const state: SupervisorState = {
    running: new Set(),
    ready: new Set(),
    restarts: Array.from({ length: count }, () => 0),
    reloads: 0,
    stopping: Promise.withResolvers(),
    isStopping: false,
  }
  const failed = Promise.withResolvers<never>()
  // The process that stops the workers may no longer await it.
  failed.promise.catch(() => {})
  const ready = Array.from({ length: count }, (_, index) => {
    const first = Promise.withResolvers<void>()
    keepRunning(parts, state, index, first.resolve).catch(failed.reject)
    return first.promise
  })
  return {
    isReady: Promise.all(ready),
    failed: failed.promise,
    reload: () => reloadAll(state),
    listening: () => [...state.ready],
    restarts: () => state.restarts,
    isStopping: () => state.isStopping,
    isWell: silentMsMax => [...state.ready].every(worker => worker.silentMs() <= silentMsMax),
    async stop() {
      state.isStopping = true
      state.stopping.resolve()
      await stopAll(state, parts.drainMs)
    },
  }
}
