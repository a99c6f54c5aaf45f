/**
 * Deadlines of progress: what moves goes on, and what does not is given up.
 * @module
 */
import { expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { atPace, within } from '../../src/server/backup/flow.ts'

const late = () => new Error('late')
const never = new Promise<never>(() => {})
const pace = { stretchMs: 5, bytesMin: 1 }

test('an answer that does not come is given up', async () => {
  expect(await within(Promise.resolve('here'), 60_000, late)).toBe('here')
  expect(within(Promise.reject(new Error('its own')), 60_000, late)).rejects.toThrow('its own')
  expect(within(never, 5, late)).rejects.toThrow('late')
})

test('work that moves goes on for many stretches', async () => {
  let stretches = 0
  const timer = setInterval(() => (stretches += 1), pace.stretchMs)
  const done = await atPace(pace, late, async moved => {
    while (stretches < 20) {
      moved(1)
      await setImmediate()
    }
    return 'done'
  })
  clearInterval(timer)
  expect(done).toBe('done')
})

test('work that moves less than that is given up', async () => {
  expect(atPace(pace, late, () => never)).rejects.toThrow('late')
  const dripping = atPace({ ...pace, bytesMin: 1_000_000_000 }, late, async moved => {
    moved(1)
    return never
  })
  expect(dripping).rejects.toThrow('late')
})
