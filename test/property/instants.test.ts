import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseInstant, printInstantUtc } from '../../src/rules/instants.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { expiryTextCharsMax } from '../../src/limits/limits.ts'
import { pollutedPrototypes } from '../support/prototypes.ts'
import { canary } from '../support/refusal.ts'

afterEach(() => expect(pollutedPrototypes()).toEqual([]))

const minuteMs = 60_000

const two = (number: number) => String(number).padStart(2, '0')

const civil = fc.record({
  year: fc.integer({ min: 1, max: 9999 }),
  month: fc.integer({ min: 1, max: 12 }),
  day: fc.integer({ min: 1, max: 31 }),
  hour: fc.nat({ max: 23 }),
  minute: fc.nat({ max: 59 }),
  second: fc.nat({ max: 59 }),
  offset: fc.integer({ min: -840, max: 840 }),
  padded: fc.boolean(),
})

type Civil = typeof civil extends fc.Arbitrary<infer T> ? T : never

const oracleMs = ({ year, month, day, hour, minute, second, offset }: Civil): number => {
  const date = new Date(Date.UTC(2000, 0, 1, hour, minute, second))
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime() - offset * minuteMs
}

const exists = ({ year, month, day }: Civil): boolean => {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  return day <= (days[month - 1] ?? 0)
}

const writeOffset = (offset: number) =>
  `${offset < 0 ? '-' : '+'}${two(Math.trunc(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`

const writeSlashed = ({ year, month, day, hour, minute, second, offset, padded }: Civil) => {
  const write = padded ? two : String
  const date = `${write(month)}/${write(day)}/${String(year).padStart(4, '0')}`
  const time = `${write(hour % 12 === 0 ? 12 : hour % 12)}:${two(minute)}:${two(second)}`
  return `${date} ${time} ${hour < 12 ? 'AM' : 'PM'} ${writeOffset(offset)}`
}

const writeIso = ({ year, month, day, hour, minute, second, offset }: Civil) =>
  `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}` +
  `T${two(hour)}:${two(minute)}:${two(second)}${writeOffset(offset)}`

const parsed = (text: string) => {
  try {
    return parseInstant(text, 'expires_at')
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    expect(error.kind).toBe('invalid_request')
    expect(`${error.message} ${JSON.stringify(error.fields)}`).not.toContain(canary)
    return undefined
  }
}

describe('instants', () => {
  test('both formats agree with the calendar of the platform', () => {
    fc.assert(
      fc.property(civil, fields => {
        const expected = exists(fields) ? oracleMs(fields) : undefined
        expect(parsed(writeSlashed(fields))?.epochMs).toBe(expected)
        expect(parsed(writeIso(fields))?.epochMs).toBe(expected)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a shown instant reads back as the same instant and the same text', () => {
    fc.assert(
      fc.property(civil.filter(exists), fields => {
        const instant = parseInstant(writeSlashed(fields), 'expires_at')
        expect(parseInstant(instant.text, 'expires_at')).toEqual(instant)
        expect(Date.parse(instant.text)).toBe(instant.epochMs)
        expect(instant.text.endsWith(writeOffset(fields.offset))).toBe(true)
      }),
    )
  })

  test('every day of a leap year and of a common century exists, and no other', () => {
    for (const year of [2000, 2023, 2024, 2100]) {
      for (let month = 1; month <= 12; month += 1) {
        for (let day = 0; day <= 32; day += 1) {
          const fields = {
            year,
            month,
            day,
            hour: 0,
            minute: 0,
            second: 0,
            offset: 0,
            padded: false,
          }
          const isDay = day > 0 && exists(fields)
          expect(parsed(`${month}/${day}/${year}`) !== undefined).toBe(isDay)
        }
      }
    }
  })

  test('an instant in UTC reads back', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), epochMs => {
        expect(parseInstant(printInstantUtc(epochMs), 'at').epochMs).toBe(epochMs)
      }),
    )
  })

  test('any text is an instant that reads back, or a refusal that does not repeat it', () => {
    const piece = fc.constantFrom(
      '8/26/2030',
      '2030-08-26',
      'T',
      ' ',
      '7:00:00',
      '19:23:57',
      'PM',
      'Z',
      '+07:00',
      '.5',
      '/',
      '-',
      ':',
      '0',
      '13',
      '99999',
      '１',
      canary,
      '__proto__',
      '\n',
    )
    const soup = fc.array(piece, { maxLength: 12 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(fc.oneof(soup, fc.string({ unit: 'binary', maxLength: 100 })), text => {
        const instant = parsed(text)
        if (text.length > expiryTextCharsMax) expect(instant).toBeUndefined()
        if (instant !== undefined) expect(parsed(instant.text)).toEqual(instant)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a damaged text is refused or shown in full form, and never thrown at', () => {
    const unit = fc.constantFrom(...'0123456789/:-+.TZAMP \uff11\u2212\n')
    fc.assert(
      fc.property(
        civil,
        fc.nat(28),
        fc.nat(2),
        fc.string({ unit, maxLength: 2 }),
        (fields, at, cut, put) => {
          for (const text of [writeSlashed(fields), writeIso(fields)]) {
            const damaged = text.slice(0, at) + put + text.slice(at + cut)
            const instant = parsed(damaged)
            if (instant !== undefined) expect(parsed(instant.text)).toEqual(instant)
          }
        },
      ),
      { numRuns: 500 },
    )
  })
})
