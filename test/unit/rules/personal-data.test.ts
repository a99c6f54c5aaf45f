/**
 * Personal data of each type, and values that are none. Source: contract section 5.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { tokenTypeOf } from '../../../src/rules/token-types.ts'
import { expectRefusal } from '../../support/refusal.ts'

const nowMs = Date.UTC(2030, 0, 1, 12)

const taken: Readonly<Record<string, readonly unknown[]>> = {
  email: [
    'ada@example.com',
    'Ada.Lovelace+vault@mail.example.co.uk',
    'üñï@example.com',
    '"ada l"@example.com',
  ],
  phone: ['+4930123456', '+14155552671', '+442071838750', '+3531234567'],
  iban: ['DE89370400440532013000', 'GB82 WEST 1234 5698 7654 32', 'fr1420041010050500013m02606'],
  name: ['Ada', 'Ada Lovelace', '山田 太郎', { first: 'Ada', middle: null, last: 'Lovelace' }],
  address: ['1 High Street', { street: '1 High Street', city: 'Bath', country: 'GB' }],
  date_of_birth: ['1990-12-31', '2000-02-29', '2030-01-01', '1815-12-10'],
}

const refused: Readonly<Record<string, readonly unknown[]>> = {
  email: [
    '',
    'ada',
    'ada@',
    '@other.example',
    'Ada <ada@example.com>',
    'a@b@example.com',
    '"a\r\nBcc: ada"@example.com',
    '"a\tb"@example.com',
    '"a\u2028b"@example.com',
    '"a\u0001b"@example.com',
    '"@example.com',
    1,
    null,
  ],
  phone: ['', '498912345', '+49 30 123456', '+0930123456', '+1', '+1415555', '+999123', {}],
  iban: [
    '',
    'DE88370400440532013000',
    'DE8937040044053201300',
    'XX89370400440532013000',
    'DE89-3704-0044-0532-0130-00',
    ['DE89370400440532013000'],
  ],
  name: ['', '   ', 17, [], {}, { first: null }, { first: 1 }, { first: '' }, 'x'.repeat(1_001)],
  address: ['', {}, { lines: ['1 High Street'] }, true],
  date_of_birth: ['', '1990-13-01', '1990-02-30', '2001-02-29', '31.12.1990', '2030-01-02', 1990],
}

const cases = (of: typeof taken) =>
  Object.entries(of).flatMap(([name, all]) =>
    all.map(each => [name, JSON.stringify(each)] as const),
  )

const normalise = (name: string, text: string) =>
  tokenTypeOf(name)?.normalise(parseJson(text), 'data', nowMs)

describe('data of a person', () => {
  // proves C5.19
  test.each(cases(taken))('as %s: %s is kept as it was sent', (name, text) => {
    expect(printJson(normalise(name, text) ?? null)).toBe(text)
  })

  // proves C5.19, E3.10
  test.each(cases(refused))('as %s: %s is refused, and not repeated', (name, text) => {
    expectRefusal(() => normalise(name, text), ['data'], text.length > 8 ? [text.slice(1, -1)] : [])
  })
})
