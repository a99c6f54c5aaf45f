/**
 * Reports of several workers as of one vault: the sums and worst values of their numbers, and what
 * their supervisor itself knows.
 * @module
 */
import type { BackupSchedule } from '../backup/schedule.ts'
import { addBackupMetrics } from '../backup/backup-metrics.ts'
import {
  addCounter,
  addLabelledGauge,
  countedIn,
  mergeNumbers,
  numbersOf,
  Registry,
  type Numbers,
} from './metric-kinds.ts'
import { addChecks } from './metrics.ts'
import { makeProcessMetrics } from './process-metrics.ts'
import type { Supervisor } from '../process/supervisor.ts'
import type { Failing, ProcessReport, WorkerCheck } from './process-report.ts'
import type { AskWorker } from '../process/worker-channel.ts'
import type { WorkerProcess } from '../process/worker-process.ts'

type Workers = Pick<Supervisor, 'listening' | 'restarts' | 'isStopping'>

/** Label of the supervisor, in place of a worker's. */
const supervisorName = 'supervisor'

interface WorkerTold<T> {
  readonly worker: WorkerProcess
  /** Absent if the worker did not answer. */
  readonly told: T | undefined
}

/**
 * Keeps the last numbers, so that counters never decrease: those of each silent worker, and those
 * of all ended workers, merged into one.
 */
function makeMemory(listening: Workers['listening']) {
  const last = new Map<WorkerProcess, Numbers>()
  let gone: Numbers = []
  return async (all: readonly WorkerTold<Numbers>[]): Promise<readonly Numbers[]> => {
    const answering = all.flatMap(({ worker, told }) => {
      if (told === undefined) return []
      last.set(worker, told)
      return [worker]
    })
    // From here on nothing is awaited, so that no worker counts as both alive and ended.
    const alive = new Set(listening())
    const ended = [...last].filter(([worker]) => !alive.has(worker))
    for (const [worker] of ended) last.delete(worker)
    const told = [...last].map(([worker, numbers]) =>
      answering.includes(worker) ? numbers : countedIn(numbers),
    )
    const left = ended.map(([, numbers]) => countedIn(numbers))
    if (left.length > 0) gone = await mergeNumbers(gone, ...left)
    return [...told, gone]
  }
}

/** Numbers of the supervisor itself; a worker that has answered is up. */
function makeOwn({ restarts }: Workers, backups: BackupSchedule | undefined) {
  const registry = new Registry()
  if (backups !== undefined) addBackupMetrics(registry, backups)
  let answered: ReadonlySet<number> = new Set()
  let failing: Failing = []
  const up = { name: 'coffer_worker_up', help: '1 where it listens and answers' }
  const again = { name: 'coffer_worker_restarts_total', help: 'how often it was started again' }
  const labelNames = ['worker'] as const
  addLabelledGauge(registry, { ...up, labelNames, aggregator: 'max' }, function* () {
    for (const index of restarts().keys()) {
      yield [{ worker: String(index) }, Number(answered.has(index))] as const
    }
  })
  addCounter(registry, { ...again, labelNames }, function* () {
    for (const [index, count] of restarts().entries()) {
      yield [{ worker: String(index) }, count] as const
    }
  })
  const own: readonly (WorkerCheck | 'backup' | 'stopping')[] = [
    'workers',
    'worker_missing',
    'stopping',
    'backup',
  ]
  addChecks(registry, () => own.map(name => [name, failing.includes(name)]))
  const registries = [registry, makeProcessMetrics(supervisorName)]
  return (all: readonly WorkerTold<Numbers>[], ownFailing: Failing): Promise<Numbers> => {
    const told = all.filter(one => one.told !== undefined)
    answered = new Set(told.map(({ worker }) => worker.index))
    failing = ownFailing
    return numbersOf(registries)
  }
}

/** @param backups those that the supervisor makes */
export function watchWorkers(workers: Workers, backups: BackupSchedule | undefined): ProcessReport {
  const { listening, restarts, isStopping } = workers
  const remember = makeMemory(listening)
  const own = makeOwn(workers, backups)

  function ownFailing(areAllAnswering: boolean): Failing {
    const count = listening().length
    const failing: (WorkerCheck | 'stopping' | 'backup')[] = []
    if (count === 0 || !areAllAnswering) failing.push('workers')
    else if (count < restarts().length) failing.push('worker_missing')
    if (isStopping()) failing.push('stopping')
    if (backups?.isOverdue() === true) failing.push('backup')
    return failing
  }

  /** A worker that has ended meanwhile is missing, not silent. */
  async function askAll<K extends Parameters<AskWorker>[0]>(name: K) {
    const asked = listening()
    const told = await Promise.all(asked.map(worker => worker.ask(name)))
    const alive = new Set(listening())
    return asked
      .map((worker, at) => ({ worker, told: told[at] }))
      .filter(one => one.told !== undefined || alive.has(one.worker))
  }

  const areAllAnswering = (all: readonly WorkerTold<unknown>[]): boolean =>
    all.every(({ told }) => told !== undefined)

  return {
    async failing() {
      const all = await askAll('failing')
      const told = all.flatMap(one => one.told ?? [])
      return [...new Set([...told, ...ownFailing(areAllAnswering(all))])]
    },
    isAlive: async () => areAllAnswering(await askAll('failing')),
    async numbers() {
      const all = await askAll('numbers')
      const told = await remember(all)
      return [...told, await own(all, ownFailing(areAllAnswering(all)))]
    },
  }
}
