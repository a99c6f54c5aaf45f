/**
 * Filters that hide personal data: `initials`, `phone_mask`.
 * Source: contract section 5, the masks of `name` and `phone`.
 * @module
 */
import {
  demandText,
  indexAfter,
  indexBeforeLast,
  spend,
  spendOnWalk,
  type FilterValue,
  type Run,
} from '../run.ts'
import type { FilterDefinition } from './definition.ts'
import { hideMiddle, maskCharacter, overText } from './mask-filters.ts'

/** In scripts without capitals one character is often a whole name, so it is hidden. */
const isWholeName = (character: string, word: string): boolean =>
  character === word && character.toLowerCase() === character.toUpperCase()

const initialOf = (word: string): string => {
  const first = word.slice(0, indexAfter(word, 1))
  return `${isWholeName(first, word) ? maskCharacter : first}.`
}

const stepsPerWord = 128
/** Steps for each character in which words are sought by a pattern. */
const stepsPerChar = 8

function initialsIn(text: string, run: Run): string[] {
  const initialsOfWords: string[] = []
  spend(run, text.length * stepsPerChar)
  for (const [word] of text.matchAll(/\S+/g)) {
    spend(run, stepsPerWord)
    initialsOfWords.push(initialOf(word))
  }
  return initialsOfWords
}

/** Returns the initials of a text's words, or of those of an object's texts in their order. */
export const initials: FilterDefinition = {
  required: [],
  bind: () => (input: FilterValue, run) => {
    if (input === null) return null
    const texts =
      input instanceof Map ? [...input.values()].filter(value => value !== null) : [input]
    const words = texts.flatMap(value => {
      const text = demandText(value, run)
      spendOnWalk(run, text)
      return initialsIn(text, run)
    })
    return words.join(' ')
  },
}

/** Country codes of one digit and of two; all others have three. Source: ITU-T E.164, annex D. */
const shortCodes = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/

const countryCodeChars = 4
const shownDigits = 2

/** Keeps the country code and the last two digits; hides a text without `+` completely. */
export const phoneMask: FilterDefinition = {
  required: [],
  bind: () =>
    overText((text, run) => {
      const code = shortCodes.exec(text)?.[0].length ?? countryCodeChars
      const start = text.startsWith('+') ? code : text.length
      const end = indexBeforeLast(text, shownDigits)
      return hideMiddle(run, text, start, end, maskCharacter, [])
    }),
}
