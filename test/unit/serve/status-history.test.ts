/**
 * Samples of the last hour, and the quantiles in them, of metrics that the test makes.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { historySamplesMax, latencyBucketsSeconds } from '../../../src/limits/operation-limits.ts'
import { makeAnswerCounters } from '../../../src/server/watch/answer-counts.ts'
import { makeHistory } from '../../../src/server/watch/status-history.ts'
import type { Numbers } from '../../../src/server/watch/metric-kinds.ts'
import { makeMetrics, type Gauges } from '../../../src/server/watch/metrics.ts'
import { answersIn, quantileOf, readingOf } from '../../../src/server/watch/reading.ts'

const none = (): undefined => undefined

const gauges: Gauges = {
  requestsInFlight: () => 3,
  fileBytes: none,
  freeBytes: () => 1_000,
  diskBytes: () => 4_000,
  clockBehindMs: none,
  clockAheadMs: none,
  store: none,
  sweepLagMs: () => 2_000,
  keys: none,
  database: none,
  certificateUntilMs: none,
  witnessed: none,
  checkpointCopies: none,
  checks: () => [],
  logBudgetBytes: none,
  logUnsigned: () => 4,
  deliveries: none,
}

/** @param answers status and milliseconds of each */
function processOf(...answers: readonly (readonly [status: number, ms: number])[]) {
  const counts = makeAnswerCounters()
  const { numbers } = makeMetrics({ version: '0', build: 'source' }, gauges, counts, {})
  const answer = ([status, ms]: readonly [number, number]): void =>
    counts.observe(
      {
        traceId: 'trace-1',
        isTraceMade: false,
        method: 'GET',
        route: '/tokens/:id',
        operation: 'getToken',
        status,
        refusal: status < 400 ? undefined : 'not_found',
        startedMs: 0,
        bytesIn: 0,
        bytesOut: 0,
        caller: undefined,
        shown: undefined,
        more: () => ({ clientAddress: undefined, tokenDigest: undefined, objectId: undefined }),
      },
      ms,
    )
  answers.forEach(answer)
  return { answer, numbers }
}

const readAt = (seconds: number, ...all: readonly Numbers[]) =>
  readingOf(all, { atMs: 1_893_456_000_000 + seconds * 1_000, elapsedMs: seconds * 1_000 })

test('a sample has what came since the one before, of all processes', async () => {
  const [one, other] = [processOf([200, 1]), processOf([200, 1], [404, 2])]
  const both = async () => [await one.numbers(), await other.numbers()]
  const history = makeHistory(await readAt(0, ...(await both())))
  one.answer([200, 0.3])
  other.answer([503, 40])
  other.answer([403, 1])
  history.add(await readAt(10, ...(await both())))
  other.answer([304, 1])
  const { samples } = history.until(await readAt(13, ...(await both())))
  expect(samples).toMatchObject([
    {
      at: '2030-01-01T00:00:10.000+00:00',
      seconds: 10,
      answers: { answered: 1, refused: 1, failed: 1 },
      levels: { in_flight: 6, sweep_lag_seconds: 2, unsigned_entries: 4, disk_free_bytes: 1_000 },
    },
    { at: '2030-01-01T00:00:13.000+00:00', seconds: 3, answers: { answered: 1, refused: 0 } },
  ])
})

test('what is asked between two samples changes none of them', async () => {
  const { numbers, answer } = processOf()
  const history = makeHistory(await readAt(0, await numbers()))
  answer([200, 1])
  history.until(await readAt(4, await numbers()))
  history.add(await readAt(10, await numbers()))
  expect(history.until(await readAt(11, await numbers())).samples).toMatchObject([
    { answers: { answered: 1 } },
    { answers: { answered: 0 } },
  ])
})

test('it holds one hour, and the oldest go', async () => {
  const numbers = await processOf().numbers()
  const history = makeHistory(await readAt(0, numbers))
  for (let n = 1; n <= historySamplesMax + 5; n += 1) history.add(await readAt(10 * n, numbers))
  const { samples } = history.until(await readAt(10 * historySamplesMax + 60, numbers))
  expect(samples).toHaveLength(historySamplesMax + 1)
  expect(samples[0]?.at).toBe('2030-01-01T00:01:00.000+00:00')
})

describe('quantiles', () => {
  const bucketsOf = (counts: Readonly<Record<number, number>>): number[] =>
    [...latencyBucketsSeconds, Infinity].map(bound => counts[bound] ?? 0)

  test('of no answers there are none', async () => {
    expect(quantileOf(bucketsOf({}), 0.5)).toBeUndefined()
    const { numbers } = processOf()
    expect(answersIn(await readAt(0, await numbers()))).toEqual({
      answered: 0,
      refused: 0,
      failed: 0,
    })
  })

  test('grow evenly within a bucket, and end with the last bound', () => {
    expect(quantileOf(bucketsOf({ 0.001: 10 }), 0.5)).toBeCloseTo(0.000_75)
    expect(quantileOf(bucketsOf({ 0.001: 99, 1: 1 }), 0.5)).toBeLessThan(0.001)
    expect(quantileOf(bucketsOf({ 0.001: 98, 1: 2 }), 0.99)).toBeCloseTo(0.75)
    expect(quantileOf(bucketsOf({ [Infinity]: 3 }), 0.5)).toBe(latencyBucketsSeconds.at(-1))
  })
})
