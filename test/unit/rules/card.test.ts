import { describe, expect, test } from 'bun:test'
import { normaliseCard, checkCardNumber } from '../../../src/rules/token-types.ts'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const normalise = (text: string) => printJson(normaliseCard(parseJson(text), 'data'))

const refuse = (text: string, paths: readonly string[], secrets: readonly string[] = []) =>
  expectRefusal(() => normaliseCard(parseJson(text), 'data'), paths, secrets)

const withMember = (member: string) => `{"number":"4242424242424242",${member}}`

const numbers = [
  '4242424242424242',
  '5555555555554444',
  '378282246310005',
  '36227206271667',
  '3566002020360505',
  '620000000000000',
  '5589092000000000006',
]

const notNumbers = [
  '3622720627165567',
  '4242424242424241',
  '4242 4242 4242 4242',
  '4242-4242-4242-4242',
  ' 4242424242424242',
  '4242424242424242\n',
  '\uff14242424242424242',
  '424242424242',
  '00000000000000000000',
  '',
]

describe('normaliseCard', () => {
  // proves C5.4
  test.each(numbers)('takes the number %s', number => {
    expect(normalise(JSON.stringify({ number }))).toBe(JSON.stringify({ number }))
  })

  // proves A5.3, C5.4
  test.each(notNumbers)('refuses the number %j', number => {
    refuse(JSON.stringify({ number }), ['data.number'], number.length > 4 ? [number] : [])
  })

  test.each(['4242424242424242', 'null', 'true', '["4242424242424242"]', '{}'])(
    'refuses %s as a number, without repeating it',
    value => {
      refuse(`{"number":${value}}`, ['data.number'], ['42424242'])
    },
  )

  test.each([
    ['4242424242424241', 'its check digit is wrong'],
    ['4242 4242 4242 4242', 'leave out blanks, dashes and dots'],
    ['4242-4242-4242-4242', 'leave out blanks, dashes and dots'],
    ['4242.4242.4242.4242', 'leave out blanks, dashes and dots'],
    ['424242424242', 'expected 13 to 19 digits, got 12'],
    ['42424242424242424242', 'expected 13 to 19 digits, got 20'],
    ['4242x', 'expected digits alone'],
    ['', 'got an empty one'],
    [4242424242424242, 'put the digits into quotes'],
    [null, 'is required'],
    [undefined, 'is required'],
  ])('tells what is wrong with the number %j, and not the number', (number, told) => {
    const text = JSON.stringify({ number })
    const { fields } = expectRefusal(() => normaliseCard(parseJson(text), 'data'), ['data.number'])
    const messages = JSON.stringify(fields)
    expect(messages).toContain(told)
    expect(messages).not.toContain('4242')
  })

  test('refuses a card without a number', () => {
    refuse('{"cvc":"123"}', ['data.number'])
  })

  // proves C5.11
  test('keeps the order of members and those that are not of a card', () => {
    const text =
      '{"10":1.0,"cvc":"0123","number":"4242424242424242","__proto__":{"a":null},' +
      '"expiration_year":2020,"expiration_month":1}'
    expect(normalise(text)).toBe(text)
  })

  // proves C5.5
  test('stores months and years as integers where they stood', () => {
    expect(normalise(withMember('"expiration_month":"07","expiration_year":"2031","x":1'))).toBe(
      withMember('"expiration_month":7,"expiration_year":2031,"x":1'),
    )
  })

  test.each(['1', '12', '"1"', '"01"', '"12"', '7.0'])('takes the month %s', month => {
    const stored = Number(JSON.parse(month))
    expect(normalise(withMember(`"expiration_month":${month}`))).toBe(
      withMember(`"expiration_month":${stored}`),
    )
  })

  test.each(['0', '13', '-1', '1.5', '"0"', '"00"', '"13"', '"1.0"', '" 1"', '"001"'])(
    'refuses the month %s',
    month => {
      refuse(withMember(`"expiration_month":${month}`), ['data.expiration_month'])
    },
  )

  // proves C5.6
  test.each(['1999', '2020', '9999', '"2030"', '2030.0'])('takes the year %s', year => {
    const stored = Number(JSON.parse(year))
    expect(normalise(withMember(`"expiration_year":${year}`))).toBe(
      withMember(`"expiration_year":${stored}`),
    )
  })

  test.each(['30', '"30"', '0', '"0030"', '10000', '2030.5', '-2030', '""', 'true', '[2030]'])(
    'refuses the year %s',
    year => {
      refuse(withMember(`"expiration_year":${year}`), ['data.expiration_year'])
    },
  )

  // proves C5.7
  test.each([
    ['"123"', '"123"'],
    ['"0123"', '"0123"'],
    ['123', '"123"'],
    ['1234', '"1234"'],
  ])('stores the cvc %s as %s', (cvc, stored) => {
    expect(normalise(withMember(`"cvc":${cvc}`))).toBe(withMember(`"cvc":${stored}`))
  })

  test.each(['"12"', '"12345"', '12', '12345', '-123', '12.5', '"12a"', '""', 'false', '{}'])(
    'refuses the cvc %s',
    cvc => {
      refuse(withMember(`"cvc":${cvc}`), ['data.cvc'])
    },
  )

  test('keeps null in an optional member, but not as the number', () => {
    const text = withMember('"expiration_month":null,"expiration_year":null,"cvc":null')
    expect(normalise(text)).toBe(text)
    refuse('{"number":null}', ['data.number'])
  })

  test('reports all faults at once and repeats nothing', () => {
    const names = ['number', 'expiration_month', 'expiration_year', 'cvc']
    const text = JSON.stringify(Object.fromEntries(names.map(name => [name, canary])))
    refuse(
      text,
      names.map(name => `data.${name}`),
    )
  })

  test.each(['null', '"4242424242424242"', '["4242424242424242"]', '1', 'true'])(
    'refuses %s in the place of a card',
    text => {
      refuse(text, ['data'], ['4242'])
    },
  )

  test('leaves the value that it was given as it was', () => {
    const data = parseJson(withMember('"cvc":123'))
    normaliseCard(data, 'data')
    expect(printJson(data)).toBe(withMember('"cvc":123'))
  })
})

describe('checkCardNumber', () => {
  // proves C5.14
  test.each(numbers)('takes %s', number => {
    expect(checkCardNumber(number, 'data')).toBe(number)
  })

  // proves C5.14
  test.each(notNumbers)('refuses %j', number => {
    expectRefusal(() => checkCardNumber(number, 'data'), ['data'], number ? [number] : [])
  })

  test('refuses a number and an object', () => {
    expectRefusal(() => checkCardNumber(4242424242424242, 'data'), ['data'], ['4242'])
    expectRefusal(() => checkCardNumber(new Map(), 'data'), ['data'])
  })
})
