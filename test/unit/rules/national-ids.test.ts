import { describe, expect, test } from 'bun:test'
import { checkEmployerIdNumber, checkSocialSecurityNumber } from '../../../src/rules/token-types.ts'
import { expectRefusal } from '../../support/refusal.ts'

describe('social security numbers', () => {
  // proves C5.17
  test.each(['123456789', '123-45-6789', '000-00-0000'])('%s is taken as it is', text => {
    expect(checkSocialSecurityNumber(text, 'data')).toBe(text)
  })

  // proves C5.17
  test.each([
    '12345678',
    '1234567890',
    '123-456789',
    '12345-6789',
    '12-3456789',
    '123-45-67890',
    '123 45 6789',
    '123\u201145\u20116789',
    '123-45-6789\n',
    '12345678\uff19',
    '',
  ])('%j is refused', text => {
    expectRefusal(() => checkSocialSecurityNumber(text, 'data'), ['data'], ['123'])
  })

  test('a JSON number is refused', () => {
    expectRefusal(() => checkSocialSecurityNumber(123456789, 'data'), ['data'], ['1234'])
  })
})

describe('employer identification numbers', () => {
  test('a JSON number is refused', () => {
    expectRefusal(() => checkEmployerIdNumber(123456789, 'data'), ['data'], ['1234'])
  })

  // proves C5.18
  test.each(['123456789', '12-3456789'])('%s is taken as it is', text => {
    expect(checkEmployerIdNumber(text, 'data')).toBe(text)
  })

  test.each(['123-45-6789', '1-23456789', '12-345678', '12--3456789', '12-34567890', ''])(
    '%j is refused',
    text => {
      expectRefusal(() => checkEmployerIdNumber(text, 'data'), ['data'], ['345'])
    },
  )

  test('null and objects are refused', () => {
    expectRefusal(() => checkEmployerIdNumber(null, 'data'), ['data'])
    expectRefusal(() => checkEmployerIdNumber(new Map(), 'data'), ['data'])
  })
})
