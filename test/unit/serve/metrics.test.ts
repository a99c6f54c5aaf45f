import { expect, test } from 'bun:test'
import { latencyBucketsSeconds } from '../../../src/limits/operation-limits.ts'
import { printNumbers } from '../../../src/server/watch/metric-kinds.ts'
import { makeAnswerCounters } from '../../../src/server/watch/answer-counts.ts'
import { makeMetrics } from '../../../src/server/watch/metrics.ts'

const none = () => 0

const seen = {
  traceId: 'trace-1',
  isTraceMade: false,
  method: 'GET',
  route: '/tokens/:id',
  operation: 'getToken',
  status: 200,
  refusal: undefined,
  startedMs: 1_000,
  bytesIn: 0,
  bytesOut: 2,
  caller: undefined,
  shown: undefined,
  more: () => ({ clientAddress: undefined, tokenDigest: undefined, objectId: undefined }),
}

test('durations are a histogram, each bucket with those of the ones before', async () => {
  const gauges = {
    requestsInFlight: none,
    fileBytes: none,
    freeBytes: none,
    diskBytes: none,
    clockBehindMs: none,
    clockAheadMs: none,
    store: () => ({ commits: 0, writes: 0, usedBytes: 0, logBytes: 0, nextOrdinal: 1, waiting: 0 }),
    sweepLagMs: async () => 0,
    keys: () => ({ count: 1, ageMs: 1, masterAgeMs: undefined }),
    database: () => undefined,
    certificateUntilMs: none,
    witnessed: () => undefined,
    checkpointCopies: () => undefined,
    checks: () => [],
    logBudgetBytes: () => undefined,
    logUnsigned: none,
    deliveries: () => undefined,
  }
  const counts = makeAnswerCounters()
  const { observe } = counts
  const { numbers } = makeMetrics({ version: '0', build: 'source' }, gauges, counts, {})
  const seconds = [0.000_05, 0.001, 0.001_01, 0.3, 31]
  for (const lasted of seconds) {
    observe(seen, 1_000 + lasted * 1_000)
  }
  const { text } = await printNumbers([await numbers()])
  const name = 'coffer_request_duration_seconds'
  const valueOf = (line: string) =>
    Number(
      text
        .split('\n')
        .find(one => one.startsWith(`${line} `))
        ?.slice(line.length),
    )
  for (const le of [...latencyBucketsSeconds, Infinity]) {
    const shown = le === Infinity ? '+Inf' : le
    const within = seconds.filter(lasted => lasted <= le).length
    expect([le, valueOf(`${name}_bucket{operation="getToken",le="${shown}"}`)]).toEqual([
      le,
      within,
    ])
  }
  expect(valueOf(`${name}_count{operation="getToken"}`)).toBe(seconds.length)
  expect(valueOf(`${name}_sum{operation="getToken"}`)).toBeCloseTo(31.302_06)
  expect(text).toContain(`# TYPE ${name} histogram`)
})
