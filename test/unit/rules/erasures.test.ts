/** Lines of a list of erasures: printed lines are read again, and no others. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { tokenIdCharsMax } from '../../../src/limits/limits.ts'
import { erasureLineBytesMax } from '../../../src/limits/operation-limits.ts'
import { isOfErasure, parseErasure, printErasure } from '../../../src/rules/erasures.ts'

const instants = fc.integer({ min: 0, max: 4_000_000_000_000 })
const texts = fc.string({ unit: 'grapheme', maxLength: tokenIdCharsMax })

test('a line that was printed is read as it was, and is one line', () => {
  const erasures = fc.record(
    { tenantId: texts, id: texts, erasedAtMs: instants, createdAtMs: instants, row: fc.nat() },
    { requiredKeys: ['tenantId', 'id', 'erasedAtMs'] },
  )
  fc.assert(
    fc.property(erasures, erasure => {
      const line = printErasure(erasure)
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(parseErasure(line)).toEqual(erasure)
      const { createdAtMs = 0, row = 0 } = erasure
      expect(isOfErasure(erasure, { createdAtMs, row })).toBe(true)
    }),
  )
})

test('the longest id that a token may have is in a line that is read', () => {
  const id = '\u{1f511}'.repeat(tokenIdCharsMax)
  const tenantId = '7b3e7a44-0000-4000-8000-000000000000'
  const line = printErasure({ tenantId, id, erasedAtMs: 0, createdAtMs: 0 })
  expect(Buffer.byteLength(line)).toBeLessThan(erasureLineBytesMax)
})

const line = { erased_at: '2026-11-26T02:00:00.000Z', tenant_id: 'some', id: 'some' }
const { erased_at: _, ...undated } = line

describe('no line is', () => {
  test.each([
    ['one that is cut off', JSON.stringify(line).slice(0, -1)],
    ['one of a member that is not known', JSON.stringify({ ...line, data: 'x' })],
    ['one of a member that is no text', JSON.stringify({ ...line, id: 7 })],
    ['one without an instant', JSON.stringify(undated)],
    ['one of an instant that is none', JSON.stringify({ ...line, erased_at: 'yesterday' })],
    ['one of a token made in none', JSON.stringify({ ...line, created_at: 'yesterday' })],
    ['one of a row that is no number', JSON.stringify({ ...line, row: '7' })],
    ['one of two ids', JSON.stringify(line).replace('"id":', '"id":"other","id":')],
    ['an id alone', 'some'],
    ['a list', JSON.stringify([line])],
    ['null', 'null'],
    ['two of them', JSON.stringify(line).repeat(2)],
  ])('%s', (_name, text) => {
    expect(parseErasure(JSON.stringify(line))).toBeDefined()
    expect(parseErasure(text)).toBeUndefined()
  })
})
