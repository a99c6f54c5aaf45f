/**
 * The answers of `/status`, of a report that the test makes.
 * @module
 */
import { expect, test } from 'bun:test'
import { startReports, type ReportParts } from '../../../src/server/watch/status-reports.ts'
import type { Failing } from '../../../src/server/watch/process-report.ts'

/** Unix milliseconds, and those of a monotonic clock. */
const clocks = { wall: 1_893_456_000_000, elapsed: 7_000 }

async function statusOf(failing: Failing, pass = (): void => {}): Promise<object> {
  const parts: ReportParts = {
    store: 'folder',
    keySource: 'file',
    findings: () => [],
    settings: [],
    report: { failing: () => failing, numbers: async () => [] },
    wallMs: () => clocks.wall,
    elapsedMs: () => clocks.elapsed,
  }
  const reports = startReports(parts)
  pass()
  const told = await reports.status()
  reports.stop()
  return told
}

test('the time served is right though the clock is set meanwhile', async () => {
  const told = await statusOf([], () => {
    clocks.wall += 3_600_000
    clocks.elapsed += 5_900
  })
  expect(told).toMatchObject({ started_at: '2030-01-01T00:00:00.000+00:00', serving_seconds: 5 })
})

test('a failing check is a warning where requests may come all the same', async () => {
  expect(await statusOf(['clock_ahead', 'disk'])).toMatchObject({
    is_ready: false,
    failing: [
      { level: 'warning', check: 'clock_ahead' },
      { level: 'fault', check: 'disk' },
    ],
  })
})
