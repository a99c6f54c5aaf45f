/**
 * Texts of the fields: in the language of the page, if there are any, with the shop's own words in
 * place of them.
 * @module
 */
import { labelCharsMax, languageCharsMax, nameCharsShownMax } from '../limits.ts'
import type { Fault, FieldName, Labels } from '../protocol.ts'
import { textsByLanguage } from './texts.ts'

const isLanguage = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length <= languageCharsMax &&
  /^[a-z]+(?:-[a-z0-9]+)*$/i.test(text)

/** English, if there are no texts in that language. */
function textsIn(locale: string): Labels {
  const [language = ''] = locale.toLowerCase().split('-')
  const isKnown = Object.hasOwn(textsByLanguage, language)
  const texts = textsByLanguage[isKnown ? language : 'en']
  return { language: isKnown ? locale : 'en', ...texts } as Labels
}

const expectedLanguage = 'expected the tag of a language, such as de or pt-BR'

/** @returns an error message if they are not all texts */
export function labelsOf(given: unknown, locale: unknown): Labels | string {
  if (!isLanguage(locale)) return `locale: ${expectedLanguage}`
  if (typeof given !== 'object' || given === null) {
    return "labels: expected an object such as { number: 'Your card' }"
  }
  const labels: Labels = { ...textsIn(locale), ...given }
  for (const [name, text] of Object.entries(given)) {
    const path = `labels.${name}`.slice(0, nameCharsShownMax)
    if (!Object.hasOwn(textsIn(locale), name)) {
      return `${path}: expected one of ${Object.keys(textsIn(locale)).join(', ')}`
    }
    if (typeof text !== 'string' || text.length > labelCharsMax) {
      return `${path}: expected a text of at most ${labelCharsMax} characters`
    }
  }
  return isLanguage(labels.language) ? labels : `labels.language: ${expectedLanguage}`
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
  'name incomplete': 'nameIncomplete',
}

export function errorText(labels: Labels, name: FieldName, fault: Fault | undefined): string {
  const label = errorLabels[`${name} ${fault}`]
  return label === undefined ? '' : labels[label]
}
