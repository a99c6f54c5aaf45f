/**
 * Liquid's filters against liquidjs, on random values.
 *
 * Inputs are chosen so that differences on purpose do not show; the unit tests say what we do
 * instead. All differences:
 *
 * - An array or object as text is its canonical JSON text; Liquid joins items, so that `["a","b"]`
 *   and `["ab"]` are alike. As a number it is 0; JavaScript reads `[5]` as 5.
 * - A character is a code point for `size`, `first`, `last`, `split: ''` and `replace: ''` too, as
 *   it is in Liquid for `slice` and `truncate` alone, so that no half of a pair comes out.
 * - null stays null under `slice`, and absent `first` and `last` are null; Liquid gives [] or ''.
 *   Rendered they are all empty.
 * - A result that is not finite is an error, since JSON cannot hold it, and -0 is 0. A number that
 *   no double holds is refused by arithmetic; Liquid has no such numbers.
 * - `date` takes what is surely a date and known conversions alone, in UTC and the C locale; else
 *   it is an error, where Liquid gives its input back and looks at the clock for `now`.
 * - Lengths and positions are integers; Liquid takes 2.5.
 * - `sort` orders lists of mixed types by type; Liquid leaves their order undefined.
 * - `map`, `where` and `sort` pick own members; Liquid's names also mean `size`, `first`, `last`,
 *   and brackets in a name. A null argument of `where` is compared; Liquid takes a missing one as
 *   left out.
 * - Filters take no arguments beyond those of the contract (characters to `strip`, a time zone).
 * - In a path `[0]` picks from a list alone and a name from an object alone, and `.size`, `.first`,
 *   `.last` mean nothing. Escapes in strings are those of JSON and `\v`; others are refused.
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Liquid } from 'liquidjs'
import { ApiError } from '../../src/lib/errors.ts'
import { evaluate } from '../support/expressions.ts'

const engine = new Liquid({ locale: 'en-US', timezoneOffset: 0 })

/** JSON has neither undefined nor -0. */
const asJson = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asJson)
  return value === undefined ? null : Object.is(value, -0) ? 0 : value
}

const oracle = (expression: string, data: unknown): unknown =>
  asJson(engine.evalValueSync(expression, { data }))

const ours = (expression: string, data: unknown): unknown => evaluate(`{{ ${expression} }}`, data)

/** Both agree on `data.v | filters` for all values; `filters` may name `data.a` and `data.b`. */
const agree = (
  filters: string,
  v: fc.Arbitrary<unknown>,
  a: fc.Arbitrary<unknown> = fc.constant(null),
  b: fc.Arbitrary<unknown> = fc.constant(null),
): void => {
  fc.assert(
    fc.property(v, a, b, (v, a, b) => {
      const expression = `data.v | ${filters}`
      expect(ours(expression, { v, a, b })).toEqual(oracle(expression, { v, a, b }))
    }),
    { numRuns: 60 },
  )
}

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      'B',
      ' ',
      '\n',
      '\r\n',
      ',',
      '-',
      'ß',
      'İ',
      '😀',
      '&',
      '<',
      '>',
      '"',
      "'",
    ),
    maxLength: 12,
  }),
)

/** Texts in which a code point is a UTF-16 unit. */
const plainText = fc.string({
  unit: fc.constantFrom('a', 'B', ' ', ',', '-', 'é', '日'),
  maxLength: 12,
})

const part = fc.string({
  unit: fc.constantFrom('a', 'B', ' ', ',', '-', '$&'),
  minLength: 1,
  maxLength: 2,
})

const markup = fc
  .array(
    fc.constantFrom(
      '<',
      '>',
      '<b>',
      '</b>',
      '<script>',
      '</script>',
      '<style',
      '</style>',
      '<!--',
      '-->',
      'x',
      '&',
      '&amp;',
      '&lt;',
      '&#39;',
    ),
    {
      maxLength: 12,
    },
  )
  .map(each => each.join(''))

const integer = fc.integer({ min: -12, max: 12 })

const number = fc.oneof(
  integer,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 }).map(each => each + 0),
  fc.constantFrom(0.1, 1.005, 2.5, -2.5, 1e21, 5e-7),
)

const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null))

const numeric = fc.oneof(
  number,
  number.map(String),
  fc.constantFrom('', ' 7 ', 'x', '0x1f', '1e3', null, true, false),
)

const list = fc.array(scalar, { maxLength: 6 })

const record = fc.record(
  { n: integer, s: plainText, o: fc.record({ m: integer }) },
  { requiredKeys: [] },
)

describe('filters over text agree with liquidjs', () => {
  // proves C6.3
  test.each(['upcase', 'downcase', 'capitalize', 'strip', 'lstrip', 'rstrip'])('%s', filters => {
    agree(filters, scalar)
  })

  // proves C6.3
  test.each([
    'escape',
    'escape_once',
    'newline_to_br',
    'strip_html',
    'strip_newlines',
    'url_encode',
  ])('%s', filters => {
    agree(filters, fc.oneof(scalar, markup))
  })

  // proves C6.3
  test.each([
    'append: data.a',
    'prepend: data.a',
    'remove: data.a',
    'remove_first: data.a',
    'replace_first: data.a, data.b',
  ])('%s', filters => {
    agree(filters, scalar, fc.oneof(scalar, part), scalar)
  })

  test('replace and split, by text that is there and by text that is not', () => {
    agree('replace: data.a, data.b', scalar, part, scalar)
    agree('split: data.a', scalar, part)
    agree('replace: data.a, data.b', plainText, fc.constantFrom('', null), text)
    agree('split: data.a', plainText, fc.constantFrom('', null))
  })

  test('truncate and truncatewords', () => {
    agree('truncate: data.a', scalar, integer)
    agree('truncate: data.a, data.b', scalar, integer, text)
    agree(
      'truncate',
      text.map(each => each.repeat(8)),
    )
    agree('truncatewords: data.a', text, integer)
    agree('truncatewords: data.a, data.b', text, integer, text)
    agree(
      'truncatewords',
      text.map(each => each.repeat(8)),
    )
  })

  test('url_decode, where liquidjs throws we refuse', () => {
    const encoded = fc.oneof(text, text.filter(each => each.isWellFormed()).map(encodeURIComponent))
    fc.assert(
      fc.property(encoded, v => {
        let expected: unknown
        try {
          expected = oracle('data.v | url_decode', { v })
        } catch {
          expect(() => ours('data.v | url_decode', { v })).toThrow(ApiError)
          return
        }
        expect(ours('data.v | url_decode', { v })).toBe(expected)
      }),
    )
  })
})

describe('filters over lists agree with liquidjs', () => {
  // proves C6.3
  test.each(['reverse', 'compact', 'uniq', 'size'])('%s', filters => {
    agree(filters, fc.oneof(list, plainText, number, fc.constant(null)))
  })

  // proves C6.3
  test.each(['first', 'last'])('%s', filters => {
    agree(filters, fc.oneof(list, plainText))
  })

  test('join, concat and slice', () => {
    agree('join: data.a', fc.oneof(list, scalar), scalar)
    agree('join', list)
    agree('concat: data.a', fc.oneof(list, scalar), fc.oneof(list, scalar))
    agree('slice: data.a, data.b', fc.oneof(list, text, number), integer, integer)
    agree('slice: data.a', fc.oneof(list, text), integer)
  })

  test('sort and sort_natural of one type, with null among it', () => {
    const withNull = (each: fc.Arbitrary<unknown>) => fc.array(fc.oneof(each, fc.constant(null)))
    agree('sort', withNull(number))
    agree('sort', withNull(text))
    agree('sort_natural', withNull(text))
    agree("sort: 'n'", fc.array(record))
    agree("sort: 'o.m'", fc.array(record))
    agree("sort_natural: 's'", fc.array(record))
  })

  test('map and where', () => {
    agree("map: 'n'", fc.oneof(fc.array(record), record, list))
    agree("map: 'o.m'", fc.array(record))
    agree("where: 'n'", fc.array(record))
    agree("where: 'n', data.a", fc.array(record), fc.integer({ min: -2, max: 2 }))
    agree("where: 'o.m', data.a", fc.array(record), fc.integer({ min: -2, max: 2 }))
    agree("where: 's', data.a", fc.array(record), plainText)
  })

  test('default', () => {
    const any = fc.oneof(scalar, list, fc.constantFrom('', false, 0))
    agree('default: data.a', any, scalar)
    agree('default: data.a, allow_false: true', any, scalar)
    agree('default: data.a, allow_false: false', any, scalar)
  })
})

describe('arithmetic agrees with liquidjs', () => {
  // proves C6.3
  test.each(['abs', 'ceil', 'floor', 'round'])('%s', filters => {
    agree(filters, numeric)
  })

  // proves C6.3
  test.each([
    'plus: data.a',
    'minus: data.a',
    'times: data.a',
    'at_least: data.a',
    'at_most: data.a',
  ])('%s', filters => {
    agree(filters, numeric, numeric)
  })

  test('round to places', () => {
    agree('round: data.a', numeric, integer)
  })

  test.each(['divided_by: data.a', 'divided_by: data.a, true', 'modulo: data.a'])(
    '%s, unless the result is not finite',
    filters => {
      fc.assert(
        fc.property(numeric, numeric, (v, a) => {
          const expression = `data.v | ${filters}`
          const expected = oracle(expression, { v, a })
          if (Number.isFinite(expected)) expect(ours(expression, { v, a })).toBe(expected)
          else expect(() => ours(expression, { v, a })).toThrow(ApiError)
        }),
      )
    },
  )
})

describe('date agrees with liquidjs', () => {
  const flag = fc.constantFrom('', '-', '_', '0', '^', '#', '-^')
  const width = fc.constantFrom('', '1', '6')
  const conversion = fc.constantFrom(...'aAbBCdeHhIjklLmMNpPqsSuUwWyYztn%')
  const format = fc
    .array(
      fc.oneof(
        fc.tuple(fc.constant('%'), flag, width, conversion),
        fc.tuple(fc.constantFrom(' ', '-', 'é')),
      ),
    )
    .map(parts => parts.flat().join(''))
  const instant = fc.date({
    min: new Date(0),
    max: new Date(253_402_300_799_000),
    noInvalidDate: true,
  })

  // proves C6.3
  test('on ISO 8601 and on Unix seconds, in any format', () => {
    const value = fc.oneof(
      instant.map(each => each.toISOString()),
      instant.map(each => Math.floor(each.getTime() / 1000)),
      instant.map(each => String(Math.floor(each.getTime() / 1000))),
    )
    fc.assert(
      fc.property(value, format, (v, format) => {
        const expression = `data.v | date: '${format}'`
        expect(ours(expression, { v })).toBe(oracle(expression, { v }))
      }),
    )
  })

  test('in the default format', () => {
    agree(
      'date',
      instant.map(each => each.toISOString()),
    )
  })
})

describe('paths and text agree with liquidjs', () => {
  const tree = { a: { b: [1, [2, 'x'], { 'c d': null, é: true }] }, s: 'text', n: 0 }
  const step = fc.constantFrom(
    '.a',
    '.b',
    '[0]',
    '[1]',
    '[2]',
    '[-1]',
    '[9]',
    "['c d']",
    '.é',
    '.s',
    '.n',
    '.none',
  )

  test('on what a path picks', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 5 }), steps => {
        // An index into text or an object picks nothing here, and a character or member there.
        const expression = `data${steps.join('')}`
        fc.pre(!/(?:\.s|\.n|data|\.a|\]\[1\]\[1\])\[-?\d\]/.test(expression))
        expect(ours(expression, tree)).toEqual(oracle(expression, tree))
      }),
      { numRuns: 300 },
    )
  })

  test('on scalars inside of text', () => {
    fc.assert(
      fc.property(scalar, scalar, (v, a) => {
        const template = 'x{{ data.v }}{{data.a}} }y{'
        expect(evaluate(template, { v, a })).toBe(
          engine.parseAndRenderSync(template, { data: { v, a } }),
        )
      }),
    )
  })
})
