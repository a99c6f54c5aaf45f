/**
 * The law of day spans: an instant is in the range exactly when its day or span says so, or when it
 * is on a border day and in the range.
 * @module
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { coverDays, dayMs, dayOf, spanOf } from '../../src/rules/instants.ts'

const instants = fc.oneof(
  fc.integer({ min: Date.UTC(1990), max: Date.UTC(2090) }),
  fc
    .tuple(fc.integer({ min: 18_200, max: 36_600 }), fc.integer({ min: -1, max: 1 }))
    .map(([day, ms]) => day * dayMs + ms),
)
const bounds = fc.oneof(instants, fc.constantFrom(-Infinity, Infinity))

test('days and spans say what lies in a range', () => {
  fc.assert(
    fc.property(bounds, bounds, fc.array(instants), (fromMs, beforeMs, asked) => {
      const { days, spans, borderDays } = coverDays(fromMs, beforeMs)
      for (const epochMs of asked) {
        const day = dayOf(epochMs)
        const isWithin = epochMs >= fromMs && epochMs < beforeMs
        const isSure = days.includes(day) || spans.includes(spanOf(day))
        expect(isSure || (borderDays.includes(day) && isWithin)).toBe(isWithin)
      }
    }),
    { numRuns: 500 },
  )
})
