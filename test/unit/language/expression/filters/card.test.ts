import { describe, expect, test } from 'bun:test'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

const plain = '3622720627165567'
const dashed = '3622-7206-2716-5567'
const amex = '378282246310005'

describe('card_mask', () => {
  // proves C6.25
  test.each([
    [plain, 'card_mask', 'X'.repeat(16)],
    [plain, "card_mask: 'false','false','X','-'", 'XXXXXXXXXXXXXXXX'],
    [plain, "card_mask: 'true','false','X','-'", '36227206XXXXXXXX'],
    [plain, "card_mask: 'true','true','#','-'", '36227206####5567'],
    [plain, "card_mask: 'false','true','X','-'", 'XXXXXXXXXXXX5567'],
    [plain, 'card_mask: true, true', '36227206XXXX5567'],
    [dashed, "card_mask: 'false','false','X','-'", 'XXXX-XXXX-XXXX-XXXX'],
    [dashed, "card_mask: 'true','false','X','-'", '3622-7206-XXXX-XXXX'],
    [dashed, "card_mask: 'false','true','X','-'", 'XXXX-XXXX-XXXX-5567'],
    [dashed, 'card_mask: true, true', '3622-7206XXXXXX5567'],
    [dashed, 'card_mask', 'X'.repeat(19)],
    [amex, 'card_mask: true, true', '378282XXXXX0005'],
    ['3782 822463 10005', "card_mask: true, true, '*', ' '", '3782 82**** *0005'],
    ['4242 4242 4242 42 42', 'card_mask: true, true', '4242 4242XXXXXX42 42'],
    ['4242 4242 4242 4242 ', 'card_mask: false, true', 'XXXXXXXXXXXXXXX4242 '],
    ['12345678901', 'card_mask: true, true', '123456X8901'],
    ['1234567890', 'card_mask: true, true', 'XXXXXXXXXX'],
    ['123456', 'card_mask: true', 'XXXXXX'],
    ['1234', 'card_mask: false, true', 'XXXX'],
    ['ab12', 'card_mask: false, true', 'XXXX'],
    ['secret', 'card_mask: true, true', 'XXXXXX'],
    ['------', "card_mask: false, false, 'X', '-'", 'XXXXXX'],
    ['', 'card_mask', ''],
    [null, 'card_mask', null],
    [3622720627165567, 'card_mask: true', '36227206XXXXXXXX'],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test('a card number has 64 characters at most, with all that separates them', () => {
    const spread = `3622720627165567${' '.repeat(48)}`
    expect(filter('card_mask: true', spread)).toBe(`36227206${'X'.repeat(56)}`)
    expect(filter('card_bin', spread)).toBe('36227206')
    expect(filter('card_mask: true', `${spread} `)).toBe('X'.repeat(65))
    expectDataRefusal('card_bin', `${spread} `)
  })

  test('hides all of a text that is too long for a card number', () => {
    expect(filter("card_mask: true, true, 'X', ' '", `${plain} ${' '.repeat(60)}`)).toBe(
      'X'.repeat(77),
    )
  })

  test.each([
    "card_mask: 'yes'",
    'card_mask: 1',
    'card_mask: data',
    "card_mask: true, true, 'XX'",
    "card_mask: true, true, 'X', '0-'",
    "card_mask: true, true, 'X', 1",
    "card_mask: true, true, 'X', '-', 1",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test('fails on an object', () => {
    expectDataRefusal('card_mask', { number: canary })
  })
})

describe('card_bin', () => {
  // proves C6.26
  test.each([
    [plain, 'card_bin', '36227206'],
    [dashed, "card_bin: '-'", '36227206'],
    [dashed, 'card_bin', '36227206'],
    [amex, 'card_bin', '378282'],
    ['3782 822463 10005', "card_bin: ' '", '378282'],
    [null, 'card_bin', null],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toBe(output)
  })

  test.each(['', '123456', '12-34-56', 'secret', `${'1'.repeat(65)}`])('fails on %j', data => {
    expectDataRefusal('card_bin', data)
  })

  test.each(['card_bin: 1', "card_bin: '1'", 'card_bin: data', "card_bin: '-', '-'"])(
    'refuses %s',
    filters => {
      expectParseRefusal(`{{ data | ${filters} }}`)
    },
  )
})

describe('card_exp', () => {
  const card = { expiration_month: 3, expiration_year: 2028 }

  // proves C6.27
  test.each([
    ['MM', '03'],
    ['MMYY', '0328'],
    ['YYYY', '2028'],
    ['YYYY-MM', '2028-03'],
    ['YYYY/MM', '2028/03'],
    ['MM/YY', '03/28'],
    ['MM/YYYY', '03/2028'],
    ['MM_YYYY', '03_2028'],
    ['MM-YYYY', '03-2028'],
  ])('%s is %s', (format, output) => {
    expect(filter(`card_exp: '${format}'`, card)).toBe(output)
  })

  test('takes members that are digits in text, and null', () => {
    const least = { expiration_month: 1, expiration_year: 1000 }
    expect(filter("card_exp: 'MM/YYYY'", least)).toBe('01/1000')
    const text = { expiration_month: '12', expiration_year: '2030' }
    expect(filter("card_exp: 'MM/YY'", text)).toBe('12/30')
    expect(filter("card_exp: 'MM/YY'", null)).toBeNull()
  })

  // proves C6.27
  test.each([
    [{}],
    [{ expiration_month: 3 }],
    [{ expiration_year: 2028 }],
    [{ ...card, expiration_month: 13 }],
    [{ ...card, expiration_month: 0 }],
    [{ ...card, expiration_month: 1.5 }],
    [{ ...card, expiration_month: null }],
    [{ ...card, expiration_month: '' }],
    [{ ...card, expiration_year: 28 }],
    [{ ...card, expiration_year: canary }],
    [canary],
    [[card]],
  ])('fails on %j', data => {
    expectDataRefusal("card_exp: 'MM/YY'", data)
  })

  test.each(['card_exp', "card_exp: 'YY'", "card_exp: ''", 'card_exp: data', "card_exp: 'MM', 1"])(
    'refuses %s',
    filters => {
      expectParseRefusal(`{{ data | ${filters} }}`)
    },
  )
})
