import { describe, expect, test } from 'bun:test'
import {
  heldDouble,
  isSameNumber,
  nearestDouble,
  numberTextOf,
} from '../../../../src/language/expression/numbers.ts'

describe('numbers', () => {
  test.each([
    ['1.0', 1],
    ['-0', 0],
    ['1E2', 100],
    ['2.50', 2.5],
    ['100000000000000000000', 1e20],
    ['9007199254740993', undefined],
    ['12345678901234567890', undefined],
    ['0.30000000000000000001', undefined],
    ['1e-400', undefined],
  ])('%s is held by the double %p', (numberText, double) => {
    expect(heldDouble({ numberText })).toBe(double)
  })

  test.each([
    ['1', '1.0', true],
    ['-0', '0.00', true],
    ['1e2', '100', true],
    ['9007199254740993', '9007199254740992', false],
    ['1e-400', '0', false],
    ['1', '-1', false],
  ])('%s and %s are the same number: %p', (a, b, isSame) => {
    expect(isSameNumber({ numberText: a }, { numberText: b })).toBe(isSame)
    expect(isSameNumber({ numberText: b }, { numberText: a })).toBe(isSame)
  })

  test('a double is held as it is', () => {
    expect(heldDouble(1.5)).toBe(1.5)
    expect(heldDouble({ numberText: '1.50' })).toBe(1.5)
    expect(heldDouble({ numberText: '0.1000000000000000055' })).toBeUndefined()
  })

  test('a double has its own text, and is the nearest to itself', () => {
    expect(numberTextOf(1.5)).toBe('1.5')
    expect(numberTextOf({ numberText: '1.50' })).toBe('1.50')
    expect(nearestDouble({ numberText: '9007199254740993' })).toBe(9007199254740992)
    expect(isSameNumber(1, 1)).toBe(true)
    expect(isSameNumber(1, 2)).toBe(false)
    expect(isSameNumber(1, { numberText: '1.0' })).toBe(true)
  })
})
