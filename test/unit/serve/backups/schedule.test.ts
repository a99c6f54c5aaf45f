import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test'
import { backupRetryMsMin, stateLookMs } from '../../../../src/limits/operation-limits.ts'
import {
  startSchedule,
  type BackupSchedule,
  type BackupTurn,
} from '../../../../src/server/backup/schedule.ts'

const minute = 60_000
const everyMs = 60 * minute
const start = Date.UTC(2026, 10, 24)

let wall: number
let told: BackupTurn[]
let turns: number
let cleared: number
let events: [string, object][]
let schedule: BackupSchedule

/** Lets promises go on that wait for nothing but each other. */
async function settle(): Promise<void> {
  for (let count = 0; count < 20; count += 1) await Promise.resolve()
}

async function pass(ms: number): Promise<void> {
  wall += ms
  jest.advanceTimersByTime(ms)
  await settle()
}

/** Begins with the outcome of each turn; the last one is repeated for ever. */
async function begin(...says: BackupTurn[]): Promise<void> {
  told = says
  schedule = startSchedule({
    plan: { to: 'there', everyMs, keep: 3 },
    wallMs: () => wall,
    log: (event, facts = {}) => void events.push([event, facts]),
    clear: () => void (cleared += 1),
    turn: async () => told[Math.min(turns++, told.length - 1)] ?? {},
  })
  await settle()
}

beforeEach(() => {
  jest.useFakeTimers()
  wall = start
  turns = cleared = 0
  events = []
})

afterEach(async () => {
  await schedule.stop()
  jest.useRealTimers()
})

const made = (newestMs: number): BackupTurn => ({
  newestMs,
  made: { name: 'one', bytes: 1, removed: 0 },
})
const failed = { failed: { code: 'ENOSPC' } }

describe('the schedule of backups', () => {
  test('looks at once, and then when the newest is one interval old', async () => {
    await begin({ newestMs: start - 20 * minute })
    expect([turns, events]).toEqual([1, []])
    await pass(40 * minute - 1)
    expect(turns).toBe(1)
    await pass(1)
    expect(turns).toBe(2)
  })

  test('counts and logs what is made, and what fails', async () => {
    await begin(made(start), failed, made(start + everyMs))
    await pass(everyMs)
    await pass(backupRetryMsMin)
    expect(schedule.counts()).toEqual({ made: 2, failed: 1, ageMs: backupRetryMsMin })
    expect(events.map(([event]) => event)).toEqual(['backup_made', 'backup_failed', 'backup_made'])
    expect(events[1]?.[1]).toEqual({ code: 'ENOSPC' })
  })

  test('tries again after one that failed: later each time, within an interval', async () => {
    await begin(failed)
    let wait = backupRetryMsMin
    for (let count = 1; count < 20; count += 1) {
      await pass(Math.min(wait, everyMs) - 1)
      expect(turns).toBe(count)
      await pass(1)
      expect(turns).toBe(count + 1)
      wait *= 2
    }
  })

  test('waits no longer than an interval, whatever the clock is set to', async () => {
    await begin(made(start + 1_000 * everyMs))
    await pass(everyMs)
    expect(turns).toBe(2)
  })

  test('is overdue by more than two intervals, and counts those from its start', async () => {
    await begin({ ...failed, newestMs: start - 100 * everyMs })
    expect(schedule.counts().ageMs).toBe(100 * everyMs)
    expect(schedule.isOverdue()).toBe(false)
    await pass(3 * everyMs)
    expect(schedule.isOverdue()).toBe(false)
    await pass(1)
    expect(schedule.isOverdue()).toBe(true)
    told = [made(wall)]
    await pass(everyMs)
    expect(schedule.isOverdue()).toBe(false)
  })

  test('logs once that one is late, and once that there is one', async () => {
    const states = () => events.map(([event]) => event).filter(event => event !== 'backup_failed')
    await begin(failed)
    await pass(3 * everyMs + 1)
    await pass(2 * everyMs)
    expect(states()).toEqual(['backup_late'])
    told = [made(wall)]
    await pass(everyMs)
    await pass(2 * stateLookMs)
    expect(states().filter(event => event !== 'backup_made')).toEqual([
      'backup_late',
      'backup_on_time',
    ])
  })

  test('knows of no age where there is no backup, and is overdue then as well', async () => {
    await begin(failed)
    expect(schedule.counts()).toEqual({ made: 0, failed: 1, ageMs: undefined })
    await pass(3 * everyMs + 1)
    expect(schedule.isOverdue()).toBe(true)
  })

  test('ends when it is told to, and takes away what was left', async () => {
    await begin(made(start))
    await schedule.stop()
    expect(cleared).toBe(1)
    await pass(10 * everyMs)
    expect(turns).toBe(1)
  })

  test('ends a turn where it is held, and begins none until it is resumed', async () => {
    let ended = 0
    schedule = startSchedule({
      plan: { to: 'there', everyMs, keep: 3 },
      wallMs: () => wall,
      log: event => void events.push([event, {}]),
      clear: () => void (cleared += 1),
      async turn(signal) {
        turns += 1
        await new Promise(resolve => signal.addEventListener('abort', resolve))
        ended += 1
        return failed
      },
    })
    await settle()
    await schedule.hold()
    expect([turns, ended]).toEqual([1, 1])
    await pass(3 * everyMs)
    await schedule.hold()
    expect([turns, events.filter(([event]) => event === 'backup_failed')]).toEqual([1, []])
    schedule.resume()
    await settle()
    expect([turns, ended]).toEqual([2, 1])
    await schedule.hold()
    await schedule.stop()
    expect([turns, ended]).toEqual([2, 2])
  })
})
