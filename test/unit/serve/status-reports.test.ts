/**
 * The answers of `/status`, of a report that the test makes.
 * @module
 */
import { expect, test } from 'bun:test'
import { ApiError } from '../../../src/lib/errors.ts'
import { answerReport, makeAskedReports } from '../../../src/server/process/report-channel.ts'
import {
  startReports,
  type ReportParts,
  type RunningReports,
} from '../../../src/server/watch/status-reports.ts'
import type { Failing } from '../../../src/server/watch/process-report.ts'

/** Unix milliseconds, and those of a monotonic clock. */
const clocks = { wall: 1_893_456_000_000, elapsed: 7_000 }

function partsOf(report: ReportParts['report']): ReportParts {
  return {
    store: 'folder',
    keySource: 'file',
    findings: () => [],
    settings: [],
    report,
    wallMs: () => clocks.wall,
    elapsedMs: () => clocks.elapsed,
  }
}

async function statusOf(failing: Failing, pass = (): void => {}): Promise<object> {
  const reports = startReports(partsOf({ failing: () => failing, numbers: async () => [] }))
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

const failedBy = (error: Error): RunningReports =>
  startReports(partsOf({ failing: () => [], numbers: () => Promise.reject(error) }))

const lost = new ApiError('unavailable', 'the store cannot be read')
const fault = new TypeError('a value of a caller')

test('a store that cannot be read is unavailable, a fault of the program stays one', async () => {
  const told = (thrown: unknown): unknown => (thrown instanceof ApiError ? thrown.kind : thrown)
  for (const [error, known] of [
    [lost, 'unavailable'],
    [fault, fault],
  ] as const) {
    const reports = failedBy(error)
    expect([await reports.status().catch(told), await reports.history().catch(told)]).toEqual([
      known,
      known,
    ])
    reports.stop()
  }
})

test('a fault of the program is logged where it is, and told to the worker', async () => {
  for (const [error, isFault, lines] of [
    [lost, undefined, []],
    [fault, true, ['report_failed']],
  ] as const) {
    const reports = failedBy(error)
    const [logged, sent]: [string[], string[]] = [[], []]
    const log = (event: string, facts?: object): void => {
      logged.push(event)
      expect(JSON.stringify(facts)).toContain('TypeError')
      expect(JSON.stringify(facts)).not.toContain('a value of a caller')
    }
    const parts = { reports: () => reports, log }
    await answerReport(parts, { id: 7, wants: 'status' }, line => sent.push(line))
    const answer = { id: 7, report: null, ...(isFault === undefined ? {} : { isFault }) }
    expect(sent.map(line => JSON.parse(line))).toEqual([answer])
    expect(logged).toEqual([...lines])
    reports.stop()
  }
})

test('a worker answers a fault as one, and what is not known as unavailable', async () => {
  const written: string[] = []
  const { write } = process.stdout
  const asked = makeAskedReports()
  process.stdout.write = (line: string | Uint8Array): boolean => written.push(String(line)) > 0
  const asking = [asked.status(), asked.history()]
  process.stdout.write = write
  const [first, second] = written.map(line => JSON.parse(line) as { readonly id: number })
  asked.hear({ id: first?.id ?? 0, report: null, isFault: true })
  asked.hear({ id: second?.id ?? 0, report: null })
  const kinds = asking.map(each => each.catch((thrown: unknown) => (thrown as ApiError).kind))
  expect(await Promise.all(kinds as Promise<unknown>[])).toEqual(['internal', 'unavailable'])
})
