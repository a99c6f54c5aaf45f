/**
 * Checks what was typed as a card, and builds the data that the vault is sent.
 * @module
 */
import type { CardState, Fault, FieldName } from '../protocol.ts'
import { digitsMaxOf, groupNumber, kindOfNumber } from './brands.ts'
import { digitsOf, isLuhnValid } from './digits.ts'
import type { DigitFormat } from './editing.ts'
import { expiryOf, isPast, type Expiry } from './expiry.ts'

/** Values of the fields: digits, and a name if the page requests it. */
export interface Digits {
  readonly number: string
  readonly expiry: string
  readonly cvc: string
  readonly name?: string
}

/** In the order of the frame. */
export const fieldNames: readonly FieldName[] = ['number', 'expiry', 'cvc', 'name']

export const numberWriting: DigitFormat = {
  digits(text) {
    const all = digitsOf(text)
    return all.slice(0, digitsMaxOf(kindOfNumber(all)))
  },
  write: groupNumber,
}

/** @param number of the card, which determines the length of its code */
export const cvcWriting = (number: () => string): DigitFormat => ({
  digits: text => digitsOf(text).slice(0, kindOfNumber(number()).cvcDigits[1]),
  write: all => all,
})

function faultOfNumber(number: string): Fault | undefined {
  const { lengths, digitsUsual } = kindOfNumber(number)
  if (lengths.includes(number.length) && isLuhnValid(number)) return undefined
  return number.length < digitsUsual ? 'incomplete' : 'invalid'
}

function faultOfExpiry(digits: string, today: Expiry): Fault | undefined {
  const month = Number(digits.slice(0, 2))
  if (digits.length >= 2 && (month < 1 || month > 12)) return 'invalid'
  const expiry = expiryOf(digits)
  if (expiry === undefined) return 'incomplete'
  return isPast(expiry, today) ? 'past' : undefined
}

function faultOfCvc({ number, cvc }: Digits): Fault | undefined {
  const [min, max] = kindOfNumber(number).cvcDigits
  if (cvc.length > max) return 'invalid'
  return cvc.length < min ? 'incomplete' : undefined
}

export type FieldFaults = Readonly<Partial<Record<FieldName, Fault>>>

/** @param today by the clock of this machine, which may be wrong */
export function faultsOf(digits: Digits, today: Expiry): FieldFaults {
  const faults: Record<FieldName, Fault | undefined> = {
    number: faultOfNumber(digits.number),
    expiry: faultOfExpiry(digits.expiry, today),
    cvc: faultOfCvc(digits),
    name: digits.name === '' ? 'incomplete' : undefined,
  }
  return Object.fromEntries(
    fieldNames.flatMap(name => (faults[name] === undefined ? [] : [[name, faults[name]]])),
  )
}

/** The vault takes past dates too, and the clock here may be wrong: `past` is only a hint. */
export const keepsFromVault = (fault: Fault | undefined): boolean =>
  fault !== undefined && fault !== 'past'

/**
 * The brand is reported only for a number that may be complete: if it were known after one digit or
 * four, it would reveal these.
 * @param digits with the number as it was when its field was left
 * @param left the fields that have been left at least once
 */
export function stateOf(digits: Digits, today: Expiry, left: ReadonlySet<FieldName>): CardState {
  const faults = faultsOf(digits, today)
  return {
    complete: !Object.values(faults).some(keepsFromVault),
    brand: faults.number === 'incomplete' ? 'unknown' : kindOfNumber(digits.number).brand,
    errors: Object.fromEntries(
      Object.entries(faults).filter(([name]) => left.has(name as FieldName)),
    ),
  }
}

/** Returns the data in the vault's form. */
export function dataOf({ number, expiry, cvc, name }: Digits): object {
  const { month, year } = expiryOf(expiry) ?? { month: 0, year: 0 }
  const card = { number, expiration_month: month, expiration_year: year, cvc }
  return name === undefined ? card : { ...card, cardholder_name: name }
}
