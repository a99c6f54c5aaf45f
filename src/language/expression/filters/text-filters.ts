/**
 * Liquid's filters over text: case, white space, joining, removing, replacing, cutting.
 *
 * Input and arguments other than text are rendered as text first, null as ''. Searches are for
 * plain text, never for a pattern. Growth is paid for before it is made.
 * @module
 */
import type { Json } from '../../../lib/json/json.ts'
import {
  resolve,
  spend,
  spendOnDone,
  type Run,
  countCodePoints,
  indexAfter,
  assertTextFits,
  integerOf,
  jsonOf,
  spendOnText,
  spendOnWalk,
  textOf,
} from '../run.ts'
import { anyValue, sourceAt, type FilterDefinition } from './definition.ts'

/** A filter over text without arguments. */
export const textFilter = (apply: (text: string, run: Run) => Json): FilterDefinition => ({
  required: [],
  bind: () => (input, run) => apply(textOf(input, run), run),
})

/** A filter over text with `required` text arguments and `optional` more, '' when left out. */
const textsFilter = (
  required: number,
  optional: number,
  apply: (run: Run, text: string, first: string, second: string) => Json,
): FilterDefinition => ({
  required: Array.from({ length: required }, () => anyValue),
  optional: Array.from({ length: optional }, () => anyValue),
  bind: operands => {
    const first = sourceAt(operands, 0)
    const [, second = () => null] = operands.map(resolve)
    return (input, run) =>
      apply(run, textOf(input, run), textOf(first(run), run), textOf(second(run), run))
  },
})

/** Steps for each character that a change of case adds: it is found in a table of exceptions. */
const stepsPerGrownChar = 16

/**
 * Changes the case of a text, and pays for it. Some characters grow, such as ß to SS.
 * @throws ApiError `invalid_request` for a longer text than an output may be
 */
export const changeCase = (run: Run, text: string, change: (text: string) => string): string => {
  // Twice, because changing case costs about as much as two walks.
  spendOnWalk(run, text)
  spendOnWalk(run, text)
  const changed = change(text)
  assertTextFits(changed.length, run)
  spendOnDone(run, Math.max(0, changed.length - text.length) * stepsPerGrownChar)
  return changed
}

const caseFilter = (change: (text: string) => string): FilterDefinition =>
  textFilter((text, run) => changeCase(run, text, change))

export const upcase = caseFilter(text => text.toUpperCase())

export const downcase = caseFilter(text => text.toLowerCase())

export const capitalize = caseFilter(
  text => text.charAt(0).toUpperCase() + text.slice(1).toLowerCase(),
)

export const strip = textFilter(text => text.trim())

export const lstrip = textFilter(text => text.trimStart())

export const rstrip = textFilter(text => text.trimEnd())

export const append = textsFilter(1, 0, (run, text, tail) => {
  spendOnText(run, text.length + tail.length)
  return text + tail
})

export const prepend = textsFilter(1, 0, (run, text, head) => {
  spendOnText(run, text.length + head.length)
  return head + text
})

/** Steps for each place where text is found, cut or inserted. */
const stepsPerPlace = 64

/** Length of a pattern's beginning that the native search looks for. */
const soughtChars = 4
const stepsPerLikePlace = 24

/**
 * Returns the first place of a pattern from `start` on, or -1. The native search compares a whole
 * pattern at each place that begins and ends like it, which costs the product of both lengths: so
 * it seeks only a short beginning, and at each match the rest is compared, and paid for.
 */
const placeOf = (run: Run, text: string, pattern: string, start: number): number => {
  const head = pattern.slice(0, soughtChars)
  for (let at = text.indexOf(head, start); at !== -1; at = text.indexOf(head, at + 1)) {
    if (pattern.length <= soughtChars) return at
    let same = soughtChars
    while (same < pattern.length && text.charCodeAt(at + same) === pattern.charCodeAt(same)) {
      same += 1
    }
    spend(run, stepsPerLikePlace + same)
    if (same === pattern.length) return at
  }
  return -1
}

/**
 * Returns the pieces between occurrences of `separator`; each code point if it is ''. Pays for each
 * piece, so that a very frequent separator ends early.
 */
const splitText = (run: Run, text: string, separator: string): string[] => {
  const pieces: string[] = []
  let start = 0
  while (start < text.length) {
    spend(run, stepsPerPlace)
    const found = placeOf(run, text, separator, start)
    if (found === -1) break
    const end = separator === '' ? start + indexAfter(text.slice(start, start + 2), 1) : found
    pieces.push(text.slice(start, end))
    start = end + separator.length
  }
  if (separator !== '') pieces.push(text.slice(start))
  return pieces
}

/** Liquid drops empty pieces at the end. */
export const split = textsFilter(1, 0, (run, text, separator) => {
  const pieces = splitText(run, text, separator)
  while (pieces.at(-1) === '') pieces.pop()
  return pieces
})

const replaceAll = (run: Run, text: string, pattern: string, replacement: string): string => {
  const pieces = splitText(run, text, pattern)
  const grown = (pieces.length - 1) * (replacement.length - pattern.length)
  spendOnText(run, text.length + Math.max(0, grown))
  return pieces.join(replacement)
}

export const replace = textsFilter(1, 1, replaceAll)

export const remove = textsFilter(1, 0, (run, text, pattern) => replaceAll(run, text, pattern, ''))

const replaceOnce = (run: Run, text: string, pattern: string, replacement: string): string => {
  const found = placeOf(run, text, pattern, 0)
  if (found === -1) return text
  spendOnText(run, text.length + replacement.length)
  return text.slice(0, found) + replacement + text.slice(found + pattern.length)
}

export const replaceFirst = textsFilter(1, 1, replaceOnce)

export const removeFirst = textsFilter(1, 0, (run, text, pattern) =>
  replaceOnce(run, text, pattern, ''),
)

/** Cuts to a number of code points, including the mark; shorter input is returned unchanged. */
export const truncate: FilterDefinition = {
  required: [],
  optional: [anyValue, anyValue],
  bind: operands => {
    const [length = () => 50, mark = () => '...'] = operands.map(resolve)
    return (input, run) => {
      const text = textOf(input, run)
      const most = integerOf(length(run), run)
      spendOnWalk(run, text)
      if (indexAfter(text, most) >= text.length) return jsonOf(input)
      const end = textOf(mark(run), run)
      spendOnText(run, text.length + end.length)
      return text.slice(0, indexAfter(text, most - countCodePoints(end))) + end
    }
  },
}

/** The first `most` runs of text between white space; a final empty one counts, as in Liquid. */
const firstWords = (run: Run, text: string, most: number): string[] => {
  const words: string[] = []
  const gap = /\s+/g
  let start = 0
  while (words.length < most) {
    spend(run, stepsPerPlace)
    gap.lastIndex = start
    const found = gap.exec(text)
    words.push(text.slice(start, found?.index))
    if (found === null) break
    start = gap.lastIndex
  }
  return words
}

/** Cuts to a number of words, at least one. Adds the mark even if there are just as many. */
export const truncateWords: FilterDefinition = {
  required: [],
  optional: [anyValue, anyValue],
  bind: operands => {
    const [length = () => 15, mark = () => '...'] = operands.map(resolve)
    return (input, run) => {
      const most = Math.max(1, integerOf(length(run), run))
      const words = firstWords(run, textOf(input, run).trimStart(), most)
      const end = words.length < most ? '' : textOf(mark(run), run)
      return words.join(' ') + end
    }
  },
}
