import { describe, expect, test } from 'bun:test'
import { isAbaValid } from '../../../src/rules/token-types.ts'
import { isLuhnValid } from '../../../src/rules/clear-text.ts'
import { isDigits } from '../../../src/lib/bytes.ts'

describe('isDigits', () => {
  test('takes lengths from the minimum to the maximum and no other', () => {
    expect(['12', '123', '1234', '12345'].map(text => isDigits(text, 3, 4))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })

  test.each(['12a', '1 2', '-12', '1.2', '\uff11\uff12\uff13', '\u0661\u0662\u0663', '12\n'])(
    'refuses %j',
    text => {
      expect(isDigits(text, 1, 10)).toBe(false)
    },
  )
})

describe('isLuhnValid', () => {
  test.each([
    '4242424242424242',
    '5555555555554444',
    '378282246310005',
    '36227206271667',
    '3566002020360505',
    '620000000000000',
    '5589092000000000006',
    '0000000000000',
  ])('takes %s', digits => {
    expect(isLuhnValid(digits)).toBe(true)
  })

  // proves C5.24
  test.each(['3622720627165567', '4242424242424241', '2424242424242424'])('refuses %s', digits => {
    expect(isLuhnValid(digits)).toBe(false)
  })
})

describe('isAbaValid', () => {
  // proves C5.12
  test.each(['021000021', '110000000', '011401533'])('takes %s', text => {
    expect(isAbaValid(text)).toBe(true)
  })

  // proves C5.12
  test.each(['021000020', '02100002', '0210000210', '', '02100002a', '021-00002', '\uff10'])(
    'refuses %j',
    text => {
      expect(isAbaValid(text)).toBe(false)
    },
  )
})
