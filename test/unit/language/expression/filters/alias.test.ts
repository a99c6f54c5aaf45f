import { describe, expect, test } from 'bun:test'
import { isLuhnValid } from '../../../../../src/rules/clear-text.ts'
import { ApiError } from '../../../../../src/lib/errors.ts'
import { aliasAttemptsMax } from '../../../../../src/limits/limits.ts'
import { evaluate, expectDataRefusal, expectParseRefusal } from '../../../../support/expressions.ts'
import { seededBytes } from '../../../../support/seeded.ts'

const dashed = '3622-7206-2716-5567'

/** Two hundred aliases of one value, of one stream of bytes. */
const draw = (filters: string, data: unknown): string[] => {
  const randomBytes = seededBytes(7)
  return Array.from({ length: 200 }, () =>
    String(evaluate(`{{ data | ${filters} }}`, data, 'id', { randomBytes })),
  )
}

const digitsOf = (text: string): string => text.replaceAll(/\D/g, '')

describe('alias_card', () => {
  // proves C6.28
  test.each([
    [dashed, 'alias_card', /^\d{4}-\d{4}-\d{4}-\d{4}$/],
    [dashed, "alias_card: 'false', 'false'", /^\d{4}-\d{4}-\d{4}-\d{4}$/],
    [dashed, "alias_card: 'true', 'false'", /^3622-7206-\d{4}-\d{4}$/],
    [dashed, 'alias_card: true, true', /^3622-7206-\d{4}-5567$/],
    [dashed, "alias_card: 'false', 'true'", /^\d{4}-\d{4}-\d{4}-5567$/],
    ['3782 822463 10005', 'alias_card: true, true', /^3782 82\d{4} \d0005$/],
    ['12345678901', 'alias_card: true, true', /^123456\d8901$/],
  ])('%j | %s keeps what it is to keep', (data, filters, shape) => {
    const aliases = draw(filters, data)
    for (const alias of aliases) {
      expect(alias).toMatch(shape)
      expect(alias).not.toBe(data)
      expect(isLuhnValid(digitsOf(alias))).toBe(false)
    }
    expect(new Set(aliases).size).toBeGreaterThan(5)
  })

  test.each(['alias_card', "alias_card: 'false', 'false'"])('%s keeps neither end', filters => {
    const aliases = draw(filters, dashed)
    expect(aliases.filter(alias => alias.startsWith('3622-7206'))).toEqual([])
    expect(aliases.filter(alias => alias.endsWith('5567')).length).toBeLessThan(10)
  })

  // proves C6.29
  test.each([
    ['1234567890', 'alias_card: true, true'],
    ['123456', 'alias_card: true'],
    ['1234', 'alias_card: false, true'],
    ['', 'alias_card'],
    ['- -', 'alias_card'],
    ['4242x4242', 'alias_card'],
    ['４２４２', 'alias_card'],
    ['4'.repeat(401), 'alias_card'],
  ])('%j | %s is too short, or no card number', (data, filters) => {
    expectDataRefusal(filters, data)
  })
})

describe('alias_preserve_format', () => {
  // proves C6.30
  test.each([
    ['ABC12345def67890', 'alias_preserve_format', /^[A-Z]{3}\d{5}[a-z]{3}\d{5}$/],
    ['ABC12345def67890', 'alias_preserve_format: 3', /^ABC\d{5}[a-z]{3}\d{5}$/],
    ['ABC12345def67890', 'alias_preserve_format: 0, 5', /^[A-Z]{3}\d{5}[a-z]{3}67890$/],
    ['ABC12345def67890', 'alias_preserve_format: 3, 5', /^ABC\d{5}[a-z]{3}67890$/],
    ['111-22-3333', 'alias_preserve_format: 0, 4', /^\d{3}-\d{2}-3333$/],
    ['Żółć 日本 ٣😀!', 'alias_preserve_format', /^[A-Z][a-z]{3} [a-z]{2} \d😀!$/],
    [12345, 'alias_preserve_format', /^\d{5}$/],
  ])('%j | %s keeps the shape', (data, filters, shape) => {
    const aliases = draw(filters, data)
    for (const alias of aliases) {
      expect(alias).toMatch(shape)
      expect(alias).not.toBe(String(data))
    }
    expect(new Set(aliases).size).toBeGreaterThan(100)
  })

  test.each([
    ['', 'alias_preserve_format'],
    ['--- ---', 'alias_preserve_format'],
    ['12-34', 'alias_preserve_format: 2, 2'],
    ['1234', 'alias_preserve_format: 2, 2'],
    ['1234', 'alias_preserve_format: 400'],
  ])('%j | %s leaves nothing to draw', (data, filters) => {
    expectDataRefusal(filters, data)
  })
})

describe('alias_preserve_length', () => {
  // proves C6.31
  test.each([
    ['john.doe', 'alias_preserve_length', /^[A-Za-z0-9]{8}$/],
    ['x'.repeat(400), 'alias_preserve_length', /^[A-Za-z0-9]{400}$/],
    ['ABC12345DEF67890', 'alias_preserve_length: 3, 5', /^ABC[A-Za-z0-9]{8}67890$/],
    ['a 😀!', 'alias_preserve_length: 1', /^a[A-Za-z0-9]{3}$/],
    ['---', 'alias_preserve_length', /^[A-Za-z0-9]{3}$/],
  ])('%j | %s keeps the length', (data, filters, shape) => {
    for (const alias of draw(filters, data)) expect(alias).toMatch(shape)
  })

  test.each([
    ['', 'alias_preserve_length'],
    ['abc', 'alias_preserve_length: 2, 1'],
    ['x'.repeat(401), 'alias_preserve_length'],
  ])('%j | %s leaves nothing to draw, or is too long', (data, filters) => {
    expectDataRefusal(filters, data)
  })
})

describe('all alias filters', () => {
  const names = ['alias_card', 'alias_preserve_format', 'alias_preserve_length']

  test.each(names)('%s keeps null and fails on an object', name => {
    expect(evaluate(`{{ data | ${name} }}`, null)).toBeNull()
    expectDataRefusal(name, { number: '4242' })
  })

  test.each([
    'alias_card: 1',
    "alias_card: 'no'",
    'alias_card: true, true, true',
    'alias_preserve_format: -1',
    "alias_preserve_format: '1'",
    'alias_preserve_length: data',
    'alias_preserve_length: 1, 2, 3',
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test('each digit is drawn as often as each other', () => {
    const counts = new Map<string, number>()
    const aliases = draw('alias_preserve_format', '0'.repeat(100))
    for (const digit of aliases.join('')) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    // 20,000 draws: 2,000 each, standard deviation 42. Bytes modulo 10 would be off by 40 to 80.
    for (const digit of '0123456789')
      expect(Math.abs((counts.get(digit) ?? 0) - 2_000)).toBeLessThan(210)
  })

  test('bytes that would favour low values are thrown away', () => {
    const alias = evaluate('{{ data | alias_preserve_format }}', '77', 'id', {
      randomBytes: count =>
        Uint8Array.from(
          { length: count },
          (_, index) => 250 + (index % 6) - (index >= 6 ? 241 : 0),
        ),
    })
    // The first six bytes, 250 to 255, stand for no digit.
    expect(alias).toBe('90')
  })

  test('a source that never varies is our fault, not that of the caller', () => {
    const randomBytes = (count: number) => new Uint8Array(count)
    const run = () => evaluate('{{ data | alias_preserve_format }}', '00', 'id', { randomBytes })
    expect(run).toThrow(new ApiError('internal', 'the random source does not vary'))
  })

  test('so many aliases are drawn as the limit says, and no more', () => {
    let draws = 0
    // One call fills a pool of 64 bytes, which is one alias of 64 digits.
    const randomBytes = (count: number) => {
      draws += 1
      return new Uint8Array(count)
    }
    const data = '0'.repeat(64)
    const run = () => evaluate('{{ data | alias_preserve_format }}', data, 'id', { randomBytes })
    expect(run).toThrow('does not vary')
    expect(draws).toBe(aliasAttemptsMax)
  })
})
