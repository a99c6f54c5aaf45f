/**
 * States that are logged when they begin and when they end.
 * @module
 */
import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { stateLookMs } from '../../../src/limits/operation-limits.ts'
import { statesOf, watchStates } from '../../../src/server/watch/states.ts'
import type { Checks } from '../../../src/server/watch/process-report.ts'

const none = () => false
const well: Checks = {
  sealed: none,
  stopping: none,
  store: none,
  clock: none,
  clock_ahead: none,
  disk: none,
  fold: none,
  backup: none,
  audit_log: none,
}

let events: string[]
let stop: () => void
const watch = (checks: Partial<Checks>): void => {
  stop = watchStates(
    statesOf({ ...well, ...checks }, () => true),
    event => void events.push(event),
  )
}
const look = (): void => void jest.advanceTimersByTime(stateLookMs)

beforeEach(() => {
  jest.useFakeTimers()
  events = []
})
afterEach(() => {
  stop()
  jest.useRealTimers()
})

describe('states', () => {
  test.each([
    ['fold', 'fold_behind', 'fold_caught_up'],
    ['disk', 'disk_full', 'disk_free'],
    ['audit_log', 'audit_log_nearly_full', 'audit_log_has_room'],
    ['store', 'database_gone', 'database_back'],
  ] as const)('of the check %s are %s and %s, once each', (name, begins, ends) => {
    let fails = false
    watch({ [name]: () => fails })
    look()
    expect(events).toEqual([])
    fails = true
    look()
    look()
    expect(events).toEqual([begins])
    fails = false
    look()
    look()
    expect(events).toEqual([begins, ends])
  })

  test('that cannot be told are as they were, as of a vault that is sealed meanwhile', () => {
    let [isSealed, isBroken] = [false, false]
    const disk = (): boolean => {
      if (isBroken) throw new Error('no such folder')
      return !isSealed
    }
    watch({ sealed: () => isSealed, disk })
    look()
    expect(events).toEqual(['disk_full'])
    isSealed = true
    look()
    isBroken = true
    look()
    isSealed = false
    look()
    expect(events).toEqual(['disk_full'])
    isBroken = false
    look()
    expect(events).toEqual(['disk_full'])
  })

  test('are looked at no more once that is stopped', () => {
    watch({ disk: () => true })
    stop()
    look()
    expect(events).toEqual([])
  })
})
