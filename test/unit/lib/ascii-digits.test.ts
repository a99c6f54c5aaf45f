/**
 * Digits of all scripts, as ASCII ones.
 * @module
 */
import { expect, test } from 'bun:test'
import { digitForms } from '../../../src/lib/ascii-digits.ts'

const systems = Intl.supportedValuesOf('numberingSystem')
const digitsOf = (system: string): string =>
  new Intl.NumberFormat(`en-u-nu-${system}`, { useGrouping: false }).format(9876543210)

test('digits of every numbering system are read', () => {
  const read = systems.filter(system => digitForms(digitsOf(system)).includes('9876543210'))
  const decimal = systems.filter(system => /^\p{Nd}+$/u.test(digitsOf(system)))
  expect(decimal.length).toBeGreaterThan(60)
  expect(read).toEqual(expect.arrayContaining(decimal))
})

test('a text is judged as it is sent, too', () => {
  expect(digitForms('4242²')).toEqual(['4242²', '42422'])
  expect(digitForms('4242')).toEqual(['4242'])
})
