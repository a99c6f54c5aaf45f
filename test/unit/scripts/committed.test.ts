import { describe, expect, test } from 'bun:test'
import { compareReports } from '../../../scripts/bench/committed.ts'
import { reportOf } from '../../../scripts/bench/report.ts'
import { atLeast, atMost, type Check } from '../../../scripts/bench/scenario.ts'

const machine = {
  date: '',
  commit: '',
  command: '',
  processor: '',
  memoryGb: 1,
  loadBefore: 0,
  kernel: '',
  disk: '',
  durability: '',
  connections: '',
  values: '',
  bun: '',
  binary: '',
  loadGenerator: 'wrk 4.1.0',
}

const rate: Check = {
  key: 'reveal.rate',
  what: 'a rate',
  unit: '×',
  target: atLeast(0.6),
  values: [0.6],
  isSteady: true,
}

const latency: Check = { ...rate, key: 'limited.p50', target: atMost(2) }

const reportWith = (check: Check, ...values: readonly number[]) =>
  reportOf(machine, new Map([['one', { checks: [{ ...check, values }] }]]))

const shares = (check: Check, now: number, committed: number) =>
  compareReports(reportWith(check, now), reportWith(check, committed)).map(
    ({ share, isKept }) => [Math.round(share * 100) / 100, isKept] as const,
  )

describe('a run is compared with the committed figures', () => {
  test('where more is better it may fall to 0.7 of them, and no further', () => {
    expect(shares(rate, 0.71, 1)).toEqual([[0.71, true]])
    expect(shares(rate, 0.69, 1)).toEqual([[0.69, false]])
    expect(shares(rate, 5, 1)).toEqual([[5, true]])
  })

  test('where less is better it may grow by as much', () => {
    expect(shares(latency, 1.4, 1)).toEqual([[0.71, true]])
    expect(shares(latency, 1.5, 1)).toEqual([[0.67, false]])
    expect(shares(latency, 0.1, 1)).toEqual([[10, true]])
  })

  test('by the median of its rounds', () => {
    const [comparison] = compareReports(reportWith(rate, 0.1, 1, 1), reportWith(rate, 1))
    expect(comparison?.isKept).toBe(true)
  })

  test('only in ratios that short rounds are enough for', () => {
    expect(shares({ ...rate, isSteady: false }, 0.1, 1)).toEqual([])
    expect(shares({ ...rate, unit: 'ms' }, 0.1, 1)).toEqual([])
  })

  test('and not in what is not committed yet', () => {
    expect(compareReports(reportWith(rate, 0.1), undefined)).toEqual([])
    expect(compareReports(reportWith(rate, 0.1), reportWith(latency, 1))).toEqual([])
  })

  test('and only with a run that was driven alike', () => {
    const driven = (loadGenerator: string) => {
      const report = reportWith(rate, 1)
      return { ...report, machine: { ...machine, loadGenerator } }
    }
    expect(compareReports(reportWith(rate, 0.1), driven('wrk 4.2.0'))).toHaveLength(1)
    expect(compareReports(reportWith(rate, 0.1), driven('autocannon 8.0.0'))).toEqual([])
  })
})

describe('a report', () => {
  test('says whether the median meets the target', () => {
    const metOf = (check: Check, ...values: readonly number[]) =>
      reportWith(check, ...values).findings.map(({ met }) => met)
    expect(metOf(rate, 0.1, 0.6, 0.7)).toEqual([true])
    expect(metOf(rate, 0.1, 0.59, 0.7)).toEqual([false])
    expect(metOf(latency, 2, 2, 9)).toEqual([true])
    expect(metOf(latency, 1, 2.01, 9)).toEqual([false])
  })

  test('tells what was skipped, and has no finding of it', () => {
    const skipped = { checks: [], skipped: 'it is not installed' }
    const report = reportOf(machine, new Map([['one', skipped]]))
    expect(report.notes).toEqual(['one: skipped, it is not installed'])
    expect(report.findings).toEqual([])
  })
})
