import { describe, expect, test } from 'bun:test'
import {
  applyMask,
  assertMaskHidesNumber,
  checkMask,
  outputContains,
  showsAnything,
} from '../../../src/rules/mask.ts'
import { fromPlain, toPlain } from '../../../src/lib/json/json.ts'
import { maskValuesMax, tokenDataBytesMax } from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const check = (mask: unknown) => checkMask(fromPlain(mask), 'mask')

/** The masked data as a plain value; `'redacted'` when the mask failed. */
const apply = (mask: unknown, data: unknown): unknown => {
  const result = applyMask(fromPlain(mask), fromPlain(data))
  return result === undefined ? 'redacted' : toPlain(result.masked)
}

const nestedObjects = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>(inner => ({ a: inner }), '{{ data }}')
const nested = (depth: number): unknown =>
  Array.from({ length: depth }).reduce<unknown>(inner => [inner], '{{ data }}')

const card = { number: '4242424242424242', expiration_month: 10, expiration_year: 2028, cvc: '123' }

const cardMask = {
  number: '{{ data.number | reveal_last: 4 }}',
  expiration_month: '{{ data.expiration_month }}',
  expiration_year: '{{ data.expiration_year }}',
}

describe('checking a mask', () => {
  // proves C6.9
  test.each([
    ['{{ data }}'],
    ['constant'],
    [''],
    [cardMask],
    [{ a: { b: [['{{ data.c }}'], 1, true, null] } }],
    [[[]]],
    [{}],
  ])('takes %j', mask => {
    expect(() => check(mask)).not.toThrow()
  })

  test.each([[null], [1], [true]])('refuses %p, which is no mask', mask => {
    expectRefusal(() => check(mask), ['mask'])
  })

  // proves C6.9
  test.each([
    ['{{ data | nope }}', 'mask'],
    [{ a: '{{' }, 'mask.*'],
    [['ok', { b: ['{{ metadata.a }}'] }], 'mask[1].*[0]'],
    [{ a: '{{ data | alias_card }}' }, 'mask.*'],
    [{ a: '{{ data.number | last4, reveal_last: 4 }}' }, 'mask.*'],
    [{ a: 'x'.repeat(401) }, 'mask.*'],
  ])('refuses %j at %s', (mask, path) => {
    expectRefusal(() => check(mask), [path])
  })

  test('repeats neither a member name nor an expression', () => {
    expectRefusal(() => check({ [canary]: { [canary]: `{{ data | ${canary} }}` } }), ['mask.*.*'])
  })

  test('bounds its depth and its size', () => {
    expect(() => check(nested(63))).not.toThrow()
    expectRefusal(() => check(nested(64)), [`mask${'[0]'.repeat(64)}`])
    expect(() => check(nestedObjects(63))).not.toThrow()
    expectRefusal(() => check(nestedObjects(64)), [`mask${'.*'.repeat(64)}`])
    const leaves = (count: number) => Array.from({ length: count }, () => 'x')
    expect(() => check(leaves(maskValuesMax - 1))).not.toThrow()
    expectRefusal(() => check(leaves(maskValuesMax)), ['mask'])
  })
})

describe('applying a mask', () => {
  // proves C6.10, H98
  test('shows what the mask names, as it says, and nothing else (hardening H98)', () => {
    expect(apply(cardMask, card)).toEqual({
      number: 'XXXXXXXXXXXX4242',
      expiration_month: 10,
      expiration_year: 2028,
    })
  })

  test.each([
    ['{{ data | reveal_last: 4 }}', '4242-4242-4242-4242', 'XXXX-XXXX-XXXX-4242'],
    ['{{ data.list }}', { list: [1, { a: null }] }, [1, { a: null }]],
    ['fixed', 'secret', 'fixed'],
    [
      { a: ['{{ data.x }}', 'y-{{ data.x }}', 1, true, null] },
      { x: 2 },
      { a: [2, 'y-2', 1, true, null] },
    ],
    [{ extra: '{{ data.missing }}' }, { x: 2 }, { extra: null }],
    [{}, { x: 2 }, {}],
    [[], 'secret', []],
    ['', 'secret', ''],
    [{ '{{ data }}': 'name' }, 'secret', { '{{ data }}': 'name' }],
    ['{{ data }}', '{{ 1 }}', '{{ 1 }}'],
  ])('%j on %j gives %j', (mask, data, masked) => {
    expect(apply(mask, data)).toEqual(masked)
  })

  // proves C6.16
  test.each([
    ['{{ data | reveal_last: 4 }}', { a: 1 }],
    [{ shown: '{{ data.a }}', failing: '{{ data.a | to_number }}' }, { a: 'secret' }],
    ["{{ data | json: '$..a' }}", [{ a: 1 }, { a: 2 }]],
    ['{{ data | divided_by: 0 }}', 1],
    ['{{ data | nope }}', 'secret'],
    ['{{ data | alias_card }}', '4242424242424242'],
    ['{{', 'secret'],
  ])('redacts where %j fails, and never falls back to the data', (mask, data) => {
    expect(apply(mask, data)).toBe('redacted')
  })

  test('redacts output that is larger than the data of a token', () => {
    const half = 'x'.repeat(tokenDataBytesMax / 2)
    expect(apply({ a: '{{ data }}' }, half)).toEqual({ a: half })
    expect(apply({ a: '{{ data }}', b: '{{ data }}' }, half)).toBe('redacted')
    expect(
      apply(
        Array.from({ length: 900 }, () => '{{ data }}'),
        [half],
      ),
    ).toBe('redacted')
  })

  // proves C6.20
  test('all expressions of a mask share one budget of work', () => {
    const list = Array.from({ length: 20_000 }, (_, index) => index)
    const costly = '{{ data | sort | size }}'
    expect(apply(costly, list)).toBe(20_000)
    expect(
      apply(
        Array.from({ length: 50 }, () => costly),
        list,
      ),
    ).toBe('redacted')
  })
})

describe('looking for a number in an output', () => {
  const number = '4242424242424242'

  test.each([
    [number],
    [`a ${number} b`],
    ['4242-4242-4242-4242'],
    ['4x2x4x2x4242 4242\n4242'],
    [4242424242424242],
    [{ a: [{ b: number }] }],
    [['x', number, 'y']],
    [{ [number]: 1 }],
    [{ '4242 4242 4242 4242': null }],
  ])('finds it in %j', value => {
    expect(outputContains(fromPlain(value), number)).toBe(true)
    expect(outputContains(fromPlain(value), '4242 4242-4242 4242')).toBe(true)
  })

  test.each([
    [null],
    [true],
    ['XXXXXXXXXXXX4242'],
    ['4242 42## #### 4242'],
    [['42424242', '42424242']],
    [{ bin: '42424242', last4: '4242', masked: 'XXXX4242' }],
    [{}],
  ])('does not find it in %j', value => {
    expect(outputContains(fromPlain(value), number)).toBe(false)
  })

  test('finds it in a number that no double holds', () => {
    expect(outputContains({ numberText: '5589092000000000006' }, '5589092000000000006')).toBe(true)
  })

  test('finds nothing when there is nothing to look for', () => {
    expect(outputContains('abc', '')).toBe(false)
    expect(outputContains('abc', '- -')).toBe(false)
  })
})

describe('the card guard', () => {
  const guard = (type: string, mask: unknown, data: unknown) =>
    assertMaskHidesNumber(type, fromPlain(mask), fromPlain(data))

  test.each([
    [cardMask],
    [
      {
        bin: '{{ data.number | card_bin }}',
        last4: '{{ data.number | last4 }}',
        cvc: '{{ data.cvc }}',
      },
    ],
    [
      {
        a: '{{ data.number | card_bin }} {{ data.number | last4 }}',
        b: '{{ data.number | last4 }}',
      },
    ],
    ["{{ data.number | card_mask: 'true', 'true', '#' }}"],
    ['{{ data | card_exp: "MM/YY" }}'],
    ['constant'],
    [{}],
    ['{{ data | to_number }}'],
  ])('lets %j pass on a card', mask => {
    expect(() => guard('card', mask, card)).not.toThrow()
  })

  // proves C6.39
  test.each([
    ['{{ data }}'],
    ['{{ data.number }}'],
    [{ a: [{ b: '{{ data["number"] }}' }] }],
    ['number: {{ data.number | upcase }}'],
    ['{{ data.number | to_number }}'],
    ['{{ data.number | reveal_last: 16 }}'],
    ["{{ data.number | split: '' | join: '-' }}"],
    ["{{ data.number | split: '' }}"],
    ['{{ data.number | slice: 0, 8 }} {{ data.number | slice: 8, 8 }}'],
    [{ a: '{{ data.number | slice: 0, 8 }}', b: '{{ data.number | slice: 8, 8 }}' }],
    ["{{ data | json: '$.number' }}"],
    ['{{ data | stringify }}'],
    [{ 4242424242424242: 'x' }],
    ['4242 4242 4242 4242'],
    ['{{ data.number | to_base64 }}'],
    ["{{ data.number | split: '' | reverse | join: 'x' }}"],
    [{ b: '{{ data.number | slice: 8, 8 }}', a: '{{ data.number | slice: 0, 8 }}' }],
    ['{{ data.number | slice: 0, 15 }}'],
    ["{{ data.number | hmac: 'sha-256', 'known' | to_base16 }}"],
  ])('refuses %j on a card', mask => {
    expectRefusal(() => guard('card', mask, card), ['mask'], [card.number])
  })

  test('guards card_number in the same way', () => {
    expect(() => guard('card_number', '{{ data | reveal_last: 4 }}', card.number)).not.toThrow()
    expectRefusal(() => guard('card_number', '{{ data }}', card.number), ['mask'], [card.number])
    const parts = ['{{ data | slice: 0, 4 }}', '{{ data | slice: 4, 15 }}']
    expectRefusal(() => guard('card_number', parts, '5589092000000000006'), ['mask'])
  })

  test('lets a mask pass on a card without a number, which it cannot show', () => {
    expect(() => guard('card', '{{ data }}', { cvc: '123' })).not.toThrow()
    expect(() => guard('card_number', '{{ data }}', null)).not.toThrow()
  })

  test('leaves other types alone', () => {
    expect(() => guard('token', '{{ data }}', card)).not.toThrow()
    expect(() => guard('bank', '{{ data }}', { number: card.number })).not.toThrow()
  })
})

describe('a mask shows something of the data', () => {
  const shows = (mask: unknown, data: unknown) => showsAnything(fromPlain(mask), fromPlain(data))

  test.each<[unknown, unknown, boolean]>([
    ['{{ data }}', 'x', true],
    ['{{ data.a }}', { b: 1 }, false],
    ['{{ data }}', '', false],
    ['{{ data }}', ['', null], false],
    ['{{ data }}', ['', 'x'], true],
    ['{{ data }}', { a: null }, false],
    ['{{ data }}', { a: 'x' }, true],
    ['{{ data }}', { a: null, b: 'x' }, true],
    ['constant', 'x', false],
    ["{{ 'constant' }}", 'x', false],
    [[1, null, 'constant'], 'x', false],
    [['constant', '{{ data }}'], 'x', true],
    [{ a: 'constant', b: 7 }, 'x', false],
    [{ a: 'constant', b: { c: '{{ data }}' } }, 'x', true],
    [{ a: '{{ data }}', b: '{{ data | reveal_last: 4 }}' }, { c: 1 }, false],
  ])('%j on %j: %p', (mask, data, expected) => {
    expect(shows(mask, data)).toBe(expected)
  })
})
