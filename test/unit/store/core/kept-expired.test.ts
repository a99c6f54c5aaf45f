/**
 * Expired rows are kept between pages. Pages stay exact by the contract of the store, and
 * `test/store/expired-pages.test.ts` shows that they read less.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeKeptExpired, type ExpiredSets } from '../../../../src/store/core/kept-expired.ts'
import { chunkOrdinals, expiredKeptMin, expiredKeptMs } from '../../../../src/store/core/limits.ts'
import { ordinalOf, placesOf } from '../../../../src/store/core/place-set.ts'
import { setsByChunk } from '../../../../src/store/core/plan.ts'
import { storedRow } from '../../../../src/store/core/row.ts'
import { rowOf } from '../../../store/rows.ts'

const unsettledMs = 1_000
const startMs = 1_000_000

const ordinalsIn = (sets: ExpiredSets): number[] =>
  [...sets].flatMap(([chunk, set]) => [...placesOf(set)].map(low => ordinalOf(chunk, low)))

const many = [3, chunkOrdinals + 5]

/** One that has kept some rows at `startMs`. */
function keepingMany() {
  const kept = makeKeptExpired(unsettledMs)
  kept.keep(kept.begin(startMs), setsByChunk(many), expiredKeptMin)
  return kept
}

const rowAt = (ordinal: number, deadlineMs?: number) =>
  storedRow(ordinal, rowOf({ uniques: [ordinal], ...(deadlineMs ? { deadlineMs } : {}) }))

describe('a page', () => {
  test('reads all while nothing is kept', () => {
    const part = makeKeptExpired(unsettledMs).begin(startMs)
    expect(part.settled).toEqual([-1, startMs - unsettledMs])
    expect(part.unsettled).toEqual([startMs - unsettledMs, startMs])
    expect(part.kept.size).toBe(0)
  })

  test('reads those alone that expired since others were kept', () => {
    const part = keepingMany().begin(startMs + 5_000)
    expect(part.settled).toEqual([startMs - unsettledMs, startMs + 5_000 - unsettledMs])
    expect(part.unsettled).toEqual([startMs + 5_000 - unsettledMs, startMs + 5_000])
    expect(ordinalsIn(part.kept)).toEqual(many)
  })

  test('that comes at once, or has waited, reads none as settled', () => {
    const kept = keepingMany()
    const settledMs = startMs - unsettledMs
    for (const nowMs of [startMs + 1, startMs - 30_000]) {
      const part = kept.begin(nowMs - 1)
      expect(part.settled[0]).toBe(settledMs)
      expect(part.unsettled[0]).toBe(Math.max(settledMs, nowMs - 1 - unsettledMs))
      expect(ordinalsIn(part.kept)).toEqual(many)
    }
  })

  test('reads all after a while, and for an instant long before', () => {
    const kept = keepingMany()
    for (const nowMs of [startMs + expiredKeptMs, startMs - unsettledMs - expiredKeptMs]) {
      expect(kept.begin(nowMs).settled[0]).toBe(-1)
    }
  })
})

describe('what was read', () => {
  test('is not kept if it is little, nor is what was kept before', () => {
    const kept = keepingMany()
    const laterMs = startMs + expiredKeptMs
    kept.keep(kept.begin(laterMs), setsByChunk([9]), expiredKeptMin - 1)
    expect(kept.begin(laterMs).settled[0]).toBe(-1)
  })

  test('is read again by each page if it is little since', () => {
    const kept = keepingMany()
    kept.keep(kept.begin(startMs + 5_000), setsByChunk([9]), expiredKeptMin - 1)
    const part = kept.begin(startMs + 6_000)
    expect(part.settled[0]).toBe(startMs - unsettledMs)
    expect(ordinalsIn(part.kept)).toEqual(many)
  })

  test('is added if it is much since, and read anew in its time', () => {
    const kept = keepingMany()
    kept.keep(kept.begin(startMs + 5_000), setsByChunk([9]), expiredKeptMin)
    const part = kept.begin(startMs + 6_000)
    expect(part.settled[0]).toBe(startMs + 5_000 - unsettledMs)
    expect(ordinalsIn(part.kept)).toEqual([3, 9, chunkOrdinals + 5])
    expect(kept.begin(startMs + expiredKeptMs).settled[0]).toBe(-1)
  })
})

describe('a row of a page that is expired', () => {
  const nowMs = startMs + 2_000
  const rows = [rowAt(7, nowMs), rowAt(8, nowMs + 1), rowAt(9)]

  test('is kept, and the page is read again', () => {
    const kept = keepingMany()
    expect(kept.keepLate(kept.begin(nowMs), rows, nowMs)).toBe(true)
    expect(ordinalsIn(kept.begin(nowMs).kept)).toEqual([3, 7, chunkOrdinals + 5])
  })

  test('is none of a page without such rows', () => {
    const kept = keepingMany()
    expect(kept.keepLate(kept.begin(nowMs), rows.slice(1), nowMs)).toBe(false)
  })

  test('is damage where all were read', () => {
    const kept = makeKeptExpired(unsettledMs)
    expect(kept.keepLate(kept.begin(nowMs), rows, nowMs)).toBe(false)
  })

  test('has the page read again, too, if nothing is kept any more', () => {
    const kept = keepingMany()
    const part = kept.begin(nowMs)
    const laterMs = startMs + expiredKeptMs
    kept.keep(kept.begin(laterMs), new Map(), 0)
    expect(kept.keepLate(part, rows, nowMs)).toBe(true)
    expect(kept.begin(nowMs).settled[0]).toBe(-1)
  })
})
