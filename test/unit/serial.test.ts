/**
 * Calls that come while the same work is under way.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { exclusive, nextFlight, serial, singleFlight } from '../../src/lib/serial.ts'

/** Runs that end when they are told to, numbered from 1. */
function held() {
  const ends: PromiseWithResolvers<void>[] = []
  return {
    count: () => ends.length,
    end: (number: number) => ends[number - 1]?.resolve(),
    fail: (number: number) => ends[number - 1]?.reject(new Error(`run ${number}`)),
    async run(): Promise<number> {
      const end = Promise.withResolvers<void>()
      const number = ends.push(end)
      await end.promise
      return number
    },
  }
}

describe('serial', () => {
  test('runs one after the other in their order, and a failure is its own caller’s', async () => {
    const { count, end, fail, run } = held()
    const inTurn = serial()
    const [first, second] = [inTurn(run), inTurn(run)]
    await setImmediate()
    expect(count()).toBe(1)
    fail(1)
    await expect(first).rejects.toThrow('run 1')
    await setImmediate()
    expect(count()).toBe(2)
    end(2)
    expect(await second).toBe(2)
  })
})

describe('singleFlight', () => {
  test('shares the run that is under way, and the next call begins another', async () => {
    const { count, end, run } = held()
    const ask = singleFlight(run)
    const both = [ask(), ask()]
    expect(ask.running()).toBe(both[0])
    end(1)
    expect(await Promise.all(both)).toEqual([1, 1])
    expect(ask.running()).toBeUndefined()
    const later = ask()
    expect(count()).toBe(2)
    end(2)
    expect(await later).toBe(2)
  })

  test('begins another after one that failed', async () => {
    const { end, fail, run } = held()
    const ask = singleFlight(run)
    const failing = ask()
    fail(1)
    await expect(failing).rejects.toThrow('run 1')
    const next = ask()
    end(2)
    expect(await next).toBe(2)
  })

  test('begins another after one that threw at once', async () => {
    let runs = 0
    const ask = singleFlight(() => {
      runs += 1
      if (runs === 1) throw new Error('run 1')
      return runs
    })
    await expect(ask()).rejects.toThrow('run 1')
    expect(await ask()).toBe(2)
  })
})

describe('nextFlight', () => {
  test('answers by a run that began after the call, one for all that came by then', async () => {
    const { count, end, run } = held()
    const ask = nextFlight(run)
    const first = ask()
    await setImmediate()
    const [second, third] = [ask(), ask()]
    await setImmediate()
    expect(count()).toBe(1)
    end(1)
    expect(await first).toBe(1)
    await setImmediate()
    end(2)
    expect(await Promise.all([second, third])).toEqual([2, 2])
    expect(count()).toBe(2)
  })

  test('goes on after a run that failed', async () => {
    const { end, fail, run } = held()
    const ask = nextFlight(run)
    const first = ask()
    await setImmediate()
    const second = ask()
    fail(1)
    await expect(first).rejects.toThrow('run 1')
    await setImmediate()
    end(2)
    expect(await second).toBe(2)
  })
})

describe('exclusive', () => {
  test('refuses what comes meanwhile, and takes the next after an end, well or badly', async () => {
    const { end, fail, run } = held()
    const alone = exclusive(() => new Error('busy'))
    const first = alone(run)
    // Not by `run`, whose end nobody tells if it is not refused.
    await expect(alone(async () => 'ran')).rejects.toThrow('busy')
    fail(1)
    await expect(first).rejects.toThrow('run 1')
    const next = alone(run)
    end(2)
    expect(await next).toBe(2)
  })
})
