/**
 * What is told of several workers as of one vault: the sums and the worst of them, and beside these
 * what the process that watches over them knows itself.
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

/** The label of the process that watches, where workers have their numbers. */
const supervisorName = 'supervisor'

interface WorkerTold<T> {
  readonly worker: WorkerProcess
  /** Absent where it was silent. */
  readonly told: T | undefined
}

/**
 * Keeps what was told last, so that what only grows does so: of a worker that is silent, and of all
 * that have ended, in one.
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
    // From here on nothing is waited for, so that none counts as both.
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

/** What this process adds; the workers that are up are those that told something. */
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

/** @param backups those that this process makes */
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

  /** One that has ended meanwhile is missing, and not silent. */
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
