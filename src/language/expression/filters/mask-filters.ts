/**
 * Filters that hide most of a text: `last4`, `reveal_last`, `reveal`.
 *
 * A character is a Unicode code point. A number or boolean is hidden as its text, null stays null,
 * an array or object is an error, so that a mask on it redacts. Source: contract section 6, its
 * table and its worked examples.
 * @module
 */
import { revealCharsMax, padLengthMax } from '../../../limits/limits.ts'
import {
  spend,
  type Run,
  countCodePoints,
  indexAfter,
  indexBeforeLast,
  demandText,
  spendOnWalk,
  type FilterValue,
} from '../run.ts'
import {
  characterRule,
  integerAt,
  integerRule,
  textAt,
  textRule,
  type FilterDefinition,
  type Step,
} from './definition.ts'

export const maskCharacter = 'X'

const lengthRule = integerRule(0, revealCharsMax)

/** Steps for each place of a preserved character, and for each character searched for. */
const stepsPerPlace = 128
const stepsPerSearch = 24
const charsSoughtPerStep = 4

/**
 * Hides the UTF-16 units of `text` from `start` to `end`, one mask character per code point.
 * @param preserved  characters that stay as they are
 */
export const hide = (
  run: Run,
  text: string,
  start: number,
  end: number,
  mask: string,
  preserved: readonly string[],
): string => {
  spendOnWalk(run, text)
  spend(run, Math.ceil((preserved.length * (text.length - start)) / charsSoughtPerStep))
  // Next place of each preserved character: native searches, each over the text once.
  const next = preserved.map(character => text.indexOf(character, start))
  let hidden = text.slice(0, start)
  let from = start
  for (;;) {
    spend(run, stepsPerPlace + preserved.length * stepsPerSearch)
    let found = -1
    let index = end
    next.forEach((each, which) => {
      if (each < from || each >= index) return
      found = which
      index = each
    })
    hidden += mask.repeat(countCodePoints(text.slice(from, index)))
    const character = preserved[found]
    if (character === undefined) return hidden + text.slice(end)
    hidden += character
    from = index + character.length
    next[found] = text.indexOf(character, from)
  }
}

/** Applies to text, and to scalars as text; null stays null. */
export const overText =
  (apply: (text: string, run: Run) => string): Step =>
  (input: FilterValue, run: Run) =>
    input === null ? null : apply(demandText(input, run), run)

/**
 * Keeps both ends; if nothing would be hidden, masks every character, even preserved ones. `start`
 * and `end` are UTF-16 indexes; they may cross.
 */
export const hideMiddle = (
  run: Run,
  text: string,
  start: number,
  end: number,
  mask: string,
  preserved: readonly string[],
): string => {
  const hidden = start < end ? hide(run, text, start, end, mask, preserved) : text
  return hidden === text ? hide(run, text, 0, text.length, mask, []) : hidden
}

export const last4: FilterDefinition = {
  required: [],
  bind: () => overText(text => text.slice(indexBeforeLast(text, 4))),
}

export const revealLast: FilterDefinition = {
  required: [lengthRule],
  optional: [characterRule],
  bind: operands => {
    const length = integerAt(operands, 0)
    const mask = textAt(operands, 1, maskCharacter)
    const preserved = ['-']
    return overText((text, run) =>
      hide(run, text, 0, indexBeforeLast(text, length), mask, preserved),
    )
  },
}

export const reveal: FilterDefinition = {
  required: [],
  optional: [lengthRule, lengthRule, characterRule, textRule],
  bind: operands => {
    const first = integerAt(operands, 0)
    const last = integerAt(operands, 1)
    const mask = textAt(operands, 2, maskCharacter)
    const preserved = [...new Set(textAt(operands, 3, ''))]
    return overText((text, run) =>
      hideMiddle(run, text, indexAfter(text, first), indexBeforeLast(text, last), mask, preserved),
    )
  },
}

/*
 * Filters that pad to a length: `pad_left`, `pad_right`. Longer text and null stay as they are.
 *
 * Lengths count Unicode code points. Source: contract section 6.
 */

const padFilter = (join: (text: string, padding: string) => string): FilterDefinition => ({
  required: [integerRule(0, padLengthMax), characterRule],
  bind: operands => {
    const length = integerAt(operands, 0)
    const padding = textAt(operands, 1, '')
    return overText(text => {
      // Code points number at least half, and at most all, of the UTF-16 units.
      if (text.length >= length * 2) return text
      return join(text, padding.repeat(Math.max(0, length - countCodePoints(text))))
    })
  },
})

export const padLeft = padFilter((text, padding) => padding + text)

export const padRight = padFilter((text, padding) => text + padding)
