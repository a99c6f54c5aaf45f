/**
 * Filters that draw a stand-in of the same shape: `alias_card`, `alias_preserve_format`,
 * `alias_preserve_length`. For ids only.
 *
 * Invariants: every character is drawn without bias; the input itself is never returned; if nothing
 * would be drawn, that is an error. Source: contract section 6 and section 7.
 * @module
 */
import { isLuhnValid } from '../../../rules/clear-text.ts'
import { countDigits, digitsIn, isDigitCode } from '../../../lib/bytes.ts'
import { ApiError, invariant } from '../../../lib/errors.ts'
import { aliasAttemptsMax, tokenIdCharsMax } from '../../../limits/limits.ts'
import { failed, type Run } from '../run.ts'
import { binDigitsOf, indexAfterDigits, indexBeforeLastDigits, lastDigits } from './card-filters.ts'
import { flagAt, flagRule, integerAt, integerRule, type FilterDefinition } from './definition.ts'
import { overText } from './mask-filters.ts'

/** Draws an integer from 0 up to, but not including, `bound`, which is at most 256. */
type Draw = (bound: number) => number

const poolBytes = 64
const byteValues = 256

/** Discards bytes of the last, incomplete round: a plain remainder would favour low values. */
const makeDraw = (run: Run): Draw => {
  invariant(run.randomBytes, 'an id expression is evaluated with a source of randomness')
  const refill = run.randomBytes
  let pool = refill(poolBytes)
  let used = 0
  let refills = 0
  return bound => {
    for (;;) {
      const byte = pool[used]
      if (byte === undefined) {
        refills += 1
        invariant(refills < tokenIdCharsMax * aliasAttemptsMax, 'the random source varies')
        pool = refill(poolBytes)
        used = 0
        continue
      }
      used += 1
      if (byte < byteValues - (byteValues % bound)) return byte % bound
    }
  }
}

/** Draws until the alias is allowed; at least one in five draws is, so the bound is never met. */
const drawAllowed = (draw: () => string, isAllowed: (alias: string) => boolean): string => {
  for (let attempt = 0; attempt < aliasAttemptsMax; attempt += 1) {
    const alias = draw()
    if (isAllowed(alias)) return alias
  }
  throw new ApiError('internal', 'the random source does not vary')
}

const assertAliasable = (text: string, run: Run): void => {
  if (text.length > tokenIdCharsMax) {
    throw failed(run, `expected at most ${tokenIdCharsMax} characters to make an alias of`)
  }
}

const tooShort = (run: Run): ApiError =>
  failed(run, 'the value is too short for an alias that hides anything')

export const aliasCard: FilterDefinition = {
  required: [],
  optional: [flagRule, flagRule],
  random: true,
  bind: operands => {
    const showsBin = flagAt(operands, 0)
    const showsLast = flagAt(operands, 1)
    return overText((text, run) => {
      assertAliasable(text, run)
      if (!/^[0-9 -]*$/.test(text)) throw failed(run, 'expected digits, spaces and dashes only')
      const digits = countDigits(text)
      const first = showsBin ? binDigitsOf(digits) : 0
      const last = showsLast ? lastDigits : 0
      if (first + last >= digits) throw tooShort(run)
      const start = indexAfterDigits(text, first)
      const end = indexBeforeLastDigits(text, last)
      const draw = makeDraw(run)
      const drawOnce = (): string => {
        const middle = Array.from(text.slice(start, end), character =>
          isDigitCode(character.charCodeAt(0)) ? String(draw(10)) : character,
        )
        return text.slice(0, start) + middle.join('') + text.slice(end)
      }
      return drawAllowed(drawOnce, alias => alias !== text && !isLuhnValid(digitsIn(alias)))
    })
  },
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const numerals = '0123456789'

/** Returns the alphabet for a character: letters of any script, or a foreign name would stay. */
const alphabetFor = (character: string): string => {
  if (/\p{Nd}/u.test(character)) return numerals
  if (/\p{Lu}/u.test(character)) return upper
  return /\p{L}/u.test(character) ? lower : ''
}

const lengthRule = integerRule(0, tokenIdCharsMax)

/** An alias whose hidden characters are drawn from the alphabet of each; '' keeps a character. */
const aliasFilter = (alphabetOf: (character: string) => string): FilterDefinition => ({
  required: [],
  optional: [lengthRule, lengthRule],
  random: true,
  bind: operands => {
    const first = integerAt(operands, 0)
    const last = integerAt(operands, 1)
    return overText((text, run) => {
      assertAliasable(text, run)
      const characters = [...text]
      const end = characters.length - last
      const places = characters.map((character, index) => ({
        character,
        alphabet: index >= first && index < end ? alphabetOf(character) : '',
      }))
      if (places.every(({ alphabet }) => alphabet === '')) throw tooShort(run)
      const draw = makeDraw(run)
      const drawOnce = (): string =>
        places
          .map(({ character, alphabet }) =>
            alphabet === '' ? character : alphabet.charAt(draw(alphabet.length)),
          )
          .join('')
      return drawAllowed(drawOnce, alias => alias !== text)
    })
  },
})

export const aliasPreserveFormat: FilterDefinition = aliasFilter(alphabetFor)

export const aliasPreserveLength: FilterDefinition = aliasFilter(() => lower + upper + numerals)
