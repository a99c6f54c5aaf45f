import { turningTickMs } from '../../src/limits/work-limits.ts'
import { expect, jest, test } from 'bun:test'
import { afterTurning } from '../../src/lib/turning-time.ts'

test('time in which the loop was held counts as one tick at most', async () => {
  const ticks = 4
  let hasPassed = false
  afterTurning(ticks * turningTickMs, () => {
    hasPassed = true
  })
  Bun.sleepSync(2 * ticks * turningTickMs)
  await Bun.sleep(0)
  await new Promise(resolve => setImmediate(resolve))
  expect(hasPassed).toBe(false)
  while (!hasPassed) await Bun.sleep(turningTickMs)
})

test('it passes once, at its end, unless it is called off', () => {
  jest.useFakeTimers()
  try {
    let passed = 0
    const callOff = afterTurning(3 * turningTickMs, () => (passed += 10))
    afterTurning(3 * turningTickMs, () => (passed += 1))
    jest.advanceTimersByTime(3 * turningTickMs - 1)
    expect(passed).toBe(0)
    callOff()
    jest.advanceTimersByTime(10 * turningTickMs)
    expect(passed).toBe(1)
  } finally {
    jest.useRealTimers()
  }
})
