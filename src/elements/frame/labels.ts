/**
 * The texts of the fields, which a shop may replace by those of its language.
 * @module
 */
import { labelCharsMax, languageCharsMax } from '../limits.ts'
import type { Fault, FieldName, Labels } from '../protocol.ts'

const defaultLabels: Labels = {
  language: 'en',
  frame: 'Card details',
  number: 'Card number',
  expiry: 'Expiry date',
  cvc: 'Security code',
  numberPlaceholder: '1234 1234 1234 1234',
  expiryPlaceholder: 'MM / YY',
  cvcPlaceholder: 'CVC',
  numberIncomplete: 'Enter the whole card number.',
  numberInvalid: 'This is no card number. Check its digits.',
  expiryIncomplete: 'Enter month and year, as 08 / 31.',
  expiryInvalid: 'The month is from 01 to 12.',
  expiryPast: 'This date is past. Check month and year.',
  cvcIncomplete: 'Enter the whole security code.',
  cvcInvalid: 'The security code of this card is shorter.',
}

const isLabel = (name: string, text: unknown): boolean =>
  Object.hasOwn(defaultLabels, name) && typeof text === 'string' && text.length <= labelCharsMax

const isLanguage = (text: string): boolean =>
  text.length <= languageCharsMax && /^[a-z]+(?:-[a-z0-9]+)*$/i.test(text)

/** @returns `undefined` for what is none */
export function labelsOf(given: unknown): Labels | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  if (!Object.entries(given).every(([name, text]) => isLabel(name, text))) return undefined
  const labels: Labels = { ...defaultLabels, ...given }
  return isLanguage(labels.language) ? labels : undefined
}

/** Languages that are written from right to left. */
const fromRight = /^(?:ar|dv|fa|he|ps|sd|ug|ur|yi)\b/i

export const directionOf = ({ language }: Labels): 'ltr' | 'rtl' =>
  fromRight.test(language) ? 'rtl' : 'ltr'

const errorLabels: Readonly<Record<string, keyof Labels>> = {
  'number incomplete': 'numberIncomplete',
  'number invalid': 'numberInvalid',
  'expiry incomplete': 'expiryIncomplete',
  'expiry invalid': 'expiryInvalid',
  'expiry past': 'expiryPast',
  'cvc incomplete': 'cvcIncomplete',
  'cvc invalid': 'cvcInvalid',
}

export function errorText(labels: Labels, name: FieldName, fault: Fault | undefined): string {
  const label = errorLabels[`${name} ${fault}`]
  return label === undefined ? '' : labels[label]
}
