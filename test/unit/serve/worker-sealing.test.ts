import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { workerReadyMsMax } from '../../../src/limits/operation-limits.ts'
import { makeUnsealer } from '../../../src/server/keys/unsealer.ts'
import type { WorkerEnd, WorkerProcess } from '../../../src/server/process/worker-process.ts'
import type { AskWorker } from '../../../src/server/process/worker-channel.ts'
import { leadWorkers } from '../../../src/server/process/worker-sealing.ts'

const masterKey = '42'.repeat(32)

interface Made {
  readonly signals: string[]
  readonly beginsOpen: boolean
  becomeReady(): void
}

/** Workers that follow where the test says so; one that is signalled ends. */
function leadFakes(follow: boolean) {
  const made: Made[] = []
  const events: string[] = []
  const keyringKey = new Uint8Array(32).fill(7)
  const start = (index: number, standing: unknown): WorkerProcess => {
    const ready = Promise.withResolvers<boolean>()
    const ended = Promise.withResolvers<WorkerEnd>()
    const signals: string[] = []
    made.push({
      signals,
      beginsOpen: standing !== undefined,
      becomeReady: () => ready.resolve(true),
    })
    return {
      index,
      isReady: ready.promise,
      ended: ended.promise,
      silentMs: () => 0,
      ask: (async () => (follow ? true : undefined)) as AskWorker,
      operate: async () => ({}),
      hand() {},
      signal(name) {
        signals.push(name)
        ended.resolve({ signal: name })
      },
    }
  }
  const log = (event: string) => void events.push(event)
  const led = leadWorkers({ start, tryKey: async () => ({ keyringKey }), log }, undefined, false)
  const { take } = makeUnsealer(led.sealing, log)
  const unseal = () => take(new TextEncoder().encode(masterKey))
  return { ...led, made, events, keyringKey, unseal }
}

/** Lets promises go on that wait for nothing but each other, while the timers are fake. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await Promise.resolve()
}

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

describe('a vault with workers is unsealed', () => {
  test('once a worker that is there has opened it', async () => {
    const { start, made, events, unseal } = leadFakes(true)
    start(0)
    made[0]?.becomeReady()
    await settle()
    expect(await unseal()).toMatchObject({ sealed: false })
    expect([events, made[0]?.signals]).toEqual([['unsealed'], []])
  })

  test('only once one has, which may be one in the place of another', async () => {
    const { start, made, events, sealing, unseal } = leadFakes(false)
    start(0)
    made[0]?.becomeReady()
    await settle()
    const told = unseal()
    await settle()
    expect([events, made[0]?.signals]).toEqual([['worker_overdue'], ['SIGKILL']])
    expect(sealing.current()).toBeUndefined()
    start(0)
    expect(made[1]?.beginsOpen).toBe(true)
    made[1]?.becomeReady()
    expect(await told).toMatchObject({ sealed: false })
    expect(events).toEqual(['worker_overdue', 'unsealed'])
  })

  test('not where none has: that is told, and what would open it is wiped', async () => {
    const { start, made, events, sealing, keyringKey, unseal } = leadFakes(false)
    start(0)
    made[0]?.becomeReady()
    await settle()
    const told = unseal().then(
      () => 'unsealed',
      ({ message }: Error) => message,
    )
    await settle()
    start(0)
    jest.advanceTimersByTime(workerReadyMsMax)
    await settle()
    expect(await told).toMatch(/^no worker has opened the vault/)
    expect(sealing.current()).toBeUndefined()
    expect(events).not.toContain('unsealed')
    // It was about to open the vault.
    expect(made[1]?.signals).toEqual(['SIGKILL'])
    expect(keyringKey).toEqual(new Uint8Array(32))
    start(0)
    expect(made[2]?.beginsOpen).toBe(false)
  })
})
