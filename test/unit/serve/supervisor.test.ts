import { describe, expect, jest, test } from 'bun:test'
import { makeSupervisor, type Supervisor } from '../../../src/server/process/supervisor.ts'
import type { WorkerEnd, WorkerProcess } from '../../../src/server/process/worker-process.ts'
import {
  workerReadyMsMax,
  workerRestartMsMax,
  workerStartsMax,
} from '../../../src/limits/operation-limits.ts'
import { until } from '../../support/until.ts'

interface FakeWorker {
  readonly index: number
  readonly signals: string[]
  becomeReady(): void
  fallSilent(ms: number): void
  end(end?: WorkerEnd): void
}

const now = () => performance.now()

/** Workers that do what the test says; one that is signalled ends so. */
function openFakes(count: number, canStart: (nth: number) => boolean = () => true) {
  const made: FakeWorker[] = []
  const events: string[] = []
  let starts = 0
  let wakes = 0
  function start(index: number): WorkerProcess {
    starts += 1
    if (!canStart(starts)) throw new Error('no room')
    const ready = Promise.withResolvers<boolean>()
    let silentMs = 0
    const ended = Promise.withResolvers<WorkerEnd>()
    const signals: string[] = []
    const end = (how: WorkerEnd = { exitCode: 1 }) => {
      ready.resolve(false)
      ended.resolve(how)
    }
    const fallSilent = (ms: number) => void (silentMs = ms)
    made.push({ index, signals, end, fallSilent, becomeReady: () => ready.resolve(true) })
    const signal = (name: NodeJS.Signals) => {
      signals.push(name)
      end({ exitCode: 0 })
    }
    const ask = async () => undefined
    const states = { isReady: ready.promise, ended: ended.promise, silentMs: () => silentMs }
    const nothing = { hand: () => {}, operate: async () => ({}) }
    return { index, ...states, ask, signal, ...nothing }
  }
  const advised: unknown[] = []
  const log = (event: string, facts: Readonly<Record<string, unknown>> = {}) => {
    events.push(event)
    advised.push(facts['text'])
  }
  const parts = { start, wakeOthers: () => void (wakes += 1), elapsedMs: now, log, drainMs: 0 }
  return { made, events, advised, wakes: () => wakes, supervisor: makeSupervisor(count, parts) }
}

/** Lets promises go on that wait for nothing but each other, also while the timers are fake. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await Promise.resolve()
}

const isSettled = async (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([promise.then(() => true), Bun.sleep(5).then(() => false)])

const failureOf = (supervisor: Supervisor): Promise<string> =>
  supervisor.failed.catch((error: unknown) => String(error))

describe('the supervisor', () => {
  test('is ready when every worker is, and not before', async () => {
    const { made, supervisor } = openFakes(2)
    expect(made.map(({ index }) => index)).toEqual([0, 1])
    made[1]?.becomeReady()
    expect(await isSettled(supervisor.isReady)).toBe(false)
    made[0]?.becomeReady()
    expect(await isSettled(supervisor.isReady)).toBe(true)
    await supervisor.stop()
  })

  test('is well as long as no worker that listens is silent', async () => {
    const { made, supervisor } = openFakes(2)
    made[1]?.fallSilent(1_000)
    made[0]?.becomeReady()
    expect(await isSettled(supervisor.isReady)).toBe(false)
    expect(supervisor.isWell(500)).toBe(true)
    made[1]?.becomeReady()
    await supervisor.isReady
    expect(supervisor.isWell(500)).toBe(false)
    expect(supervisor.isWell(1_000)).toBe(true)
    await supervisor.stop()
  })

  test('starts a worker in the place of one that ended, once that is gone', async () => {
    const { made, events, supervisor } = openFakes(2)
    for (const worker of made) worker.becomeReady()
    await supervisor.isReady
    expect(made.length).toBe(2)
    made[0]?.end({ signal: 'SIGKILL' })
    await until(() => made.length === 3)
    expect(made[2]?.index).toBe(0)
    expect(events).toEqual(['worker_ended'])
    await supervisor.stop()
  })

  test.each(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGTRAP', 'SIGILL'])(
    'says what to do about one that ended natively, by %s',
    async signal => {
      const { made, advised, supervisor } = openFakes(1)
      made[0]?.becomeReady()
      await supervisor.isReady
      made[0]?.end({ signal })
      await until(() => made.length === 2)
      expect(advised).toEqual([expect.stringContaining('coffer verify --online')])
      await supervisor.stop()
    },
  )

  const ends: readonly WorkerEnd[] = [{ signal: 'SIGKILL' }, { exitCode: 1 }]
  test.each(ends)('says nothing of damage when one ended by %p', async end => {
    const { made, advised, supervisor } = openFakes(1)
    made[0]?.becomeReady()
    await supervisor.isReady
    made[0]?.end(end)
    await until(() => made.length === 2)
    expect(advised).toEqual([undefined])
    await supervisor.stop()
  })

  test.each(ends)('lets the others look at the lock when one ended by %p', async end => {
    const { made, wakes, supervisor } = openFakes(2)
    for (const worker of made) worker.becomeReady()
    await supervisor.isReady
    expect(wakes()).toBe(0)
    made[0]?.end(end)
    await until(() => made.length === 3)
    expect(wakes()).toBe(1)
    expect(made[1]?.signals).toEqual([])
    await supervisor.stop()
  })

  test('stops all, also one that is not yet ready, and starts none after that', async () => {
    const { made, events, supervisor } = openFakes(3)
    made[0]?.becomeReady()
    made[1]?.end()
    await Bun.sleep(1)
    await supervisor.stop()
    await Bun.sleep(250)
    expect(made.map(({ signals }) => signals)).toEqual([['SIGTERM'], [], ['SIGTERM']])
    expect(events).toEqual(['worker_ended'])
    expect(await isSettled(supervisor.failed)).toBe(false)
  })

  test('gives up when a worker fails to start too often in a row', async () => {
    const { made, supervisor } = openFakes(1)
    for (let count = 0; count < workerStartsMax; count += 1) {
      await until(() => made.length === count + 1)
      made[count]?.end()
    }
    expect(await failureOf(supervisor)).toContain('again and again')
    await supervisor.stop()
    expect(made.length).toBe(workerStartsMax)
  })

  test('goes on without one that was ready once, and tries it again for ever', async () => {
    jest.useFakeTimers()
    try {
      const { made, events, supervisor } = openFakes(2)
      for (const worker of made) worker.becomeReady()
      await settle()
      for (let count = 0; count < 3 * workerStartsMax; count += 1) {
        made.at(-1)?.end()
        await settle()
        jest.advanceTimersByTime(workerRestartMsMax)
        await settle()
      }
      expect(made.length).toBe(2 + 3 * workerStartsMax)
      expect(made[0]?.signals).toEqual([])
      expect(events.filter(event => event === 'worker_missing')).toHaveLength(1)
      made.at(-1)?.becomeReady()
      await supervisor.stop()
      expect(made.at(-1)?.signals).toEqual(['SIGTERM'])
    } finally {
      jest.useRealTimers()
    }
  })

  test('ends one that hangs before it is ready, and starts another one', async () => {
    jest.useFakeTimers()
    try {
      const { made, events, supervisor } = openFakes(2)
      made[1]?.becomeReady()
      await settle()
      jest.advanceTimersByTime(workerReadyMsMax - 1)
      expect(made.map(({ signals }) => signals)).toEqual([[], []])
      jest.advanceTimersByTime(1)
      await settle()
      expect(made.map(({ signals }) => signals)).toEqual([['SIGKILL'], []])
      jest.advanceTimersByTime(workerRestartMsMax)
      await settle()
      expect(made.map(({ index }) => index)).toEqual([0, 1, 0])
      expect(events).toEqual(['worker_overdue', 'worker_ended'])
      await supervisor.stop()
    } finally {
      jest.useRealTimers()
    }
  })

  test('counts a start that the system refused as one that failed, and tries again', async () => {
    const { made, events, supervisor } = openFakes(1, nth => nth > 1)
    await until(() => made.length === 1)
    made[0]?.becomeReady()
    expect(await isSettled(supervisor.isReady)).toBe(true)
    expect(events).toEqual(['worker_not_started'])
    await supervisor.stop()
  })

  test('does not give up on one that was ready in between', async () => {
    const { made, supervisor } = openFakes(1)
    for (let count = 0; count < workerStartsMax; count += 1) {
      await until(() => made.length === count + 1)
      if (count === 1) made[count]?.becomeReady()
      await Bun.sleep(1)
      made[count]?.end()
    }
    await until(() => made.length === workerStartsMax + 1)
    expect(await isSettled(supervisor.failed)).toBe(false)
    await supervisor.stop()
  }, 300_000)
})
