/**
 * Days and spans of a range of time, at its ends and at the ends of the calendar.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { coverDays, dayMs, dayOf, spanOf } from '../../../src/rules/instants.ts'

const day = (text: string): number => Date.parse(text) / dayMs
const at = (text: string): number => Date.parse(text)

describe('the days of a range', () => {
  test('are whole where the range ends with them', () => {
    const cover = coverDays(at('2026-01-01'), at('2026-01-03'))
    const days = [day('2026-01-01'), day('2026-01-02')]
    expect(cover).toEqual({ days, spans: [], borderDays: [] })
  })

  test('are borders where the range has a part of them', () => {
    expect(coverDays(at('2026-01-01') + 1, at('2026-01-03') + 1)).toEqual({
      days: [day('2026-01-02')],
      spans: [],
      borderDays: [day('2026-01-01'), day('2026-01-03')],
    })
  })

  test('are one border within one day, and none in an empty range', () => {
    const noon = at('2026-01-01T12:00Z')
    const cover = { days: [], spans: [], borderDays: [day('2026-01-01')] }
    expect(coverDays(noon, noon + 1)).toEqual(cover)
    for (const [from, before] of [
      [noon, noon],
      [noon, noon - 1],
      [Infinity, -Infinity],
    ] as const) {
      expect(coverDays(from, before)).toEqual({ days: [], spans: [], borderDays: [] })
    }
  })

  test('are spans where 64 of them stand together', () => {
    const first = 320 * 64
    const { days, spans } = coverDays((first - 1) * dayMs, (first + 129) * dayMs)
    expect({ days, spans }).toEqual({ days: [first - 1, first + 128], spans: [320, 321] })
  })

  test('are a few hundred at most, however long the range is', () => {
    for (const fromMs of [-Infinity, at('2020-01-02'), at('2026-11-20')]) {
      const { days, spans, borderDays } = coverDays(fromMs, Infinity)
      expect(borderDays).toEqual([])
      expect(days.length + spans.length).toBeLessThan(420)
    }
  })
})

test('all before 2020 is one day and all after 2069 another, whole only without a bound', () => {
  const early = day('2019-12-31')
  const late = day('2070-01-01')
  expect([at('1970-01-01'), at('2019-12-31'), -Infinity].map(dayOf)).toEqual([early, early, early])
  expect([at('2070-01-01'), at('9999-12-31'), Infinity].map(dayOf)).toEqual([late, late, late])
  expect(dayOf(at('2020-01-01'))).toBe(early + 1)
  expect(dayOf(at('2070-01-01') - 1)).toBe(late - 1)
  expect(coverDays(at('1970-01-01'), at('2020-01-01')).borderDays).toEqual([early])
  expect(coverDays(at('2069-12-31'), at('2071-01-01')).borderDays).toEqual([late])
  expect(coverDays(-Infinity, at('2020-01-01')).days).toEqual([early])
  expect(spanOf(early)).toBeLessThan(spanOf(late))
})
