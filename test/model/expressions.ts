/**
 * Expressions as the model knows them: the few that its runs use, read by one pattern.
 *
 * Source: contract section 6. A text that this pattern does not match must be refused.
 * @module
 */
import { canonicalText, isObject, memberOf, type Json } from './json.ts'

/** `undefined` is a value that the filter cannot take. */
type Filter = (input: Json, argument: string | undefined) => Json | undefined

const characters = (text: string): string[] => [...text]

const scalarText = (input: Json): string | undefined =>
  typeof input === 'object' ? undefined : String(input)

/** Applies to text, and to numbers and booleans as text; null stays null. */
const overText =
  (apply: (text: string, argument: string | undefined) => string): Filter =>
  (input, argument) => {
    if (input === null) return null
    const text = scalarText(input)
    return text === undefined ? undefined : apply(text, argument)
  }

const isGiven = (value: Json): boolean => value !== null

/** Returns the text between the quotes. */
const quoted = (argument = ''): string => argument.slice(1, -1)

/** Country codes of the phone numbers among the samples. Source: ITU-T E.164, annex D. */
const countryCodes = ['+1', '+49', '+354']

/** One character, of a script without capitals. */
const isWholeName = (word: string): boolean =>
  characters(word).length === 1 && word.toLowerCase() === word.toUpperCase()

/** Filters for personal data are asked here only of data of their own types. */
const filters: Readonly<Record<string, Filter>> = {
  last4: overText(text => characters(text).slice(-4).join('')),
  reveal_last: overText((text, argument) => {
    const all = characters(text)
    const hidden = Math.max(0, all.length - Number(argument))
    return all.map((c, index) => (index < hidden && c !== '-' ? 'X' : c)).join('')
  }),
  remove: overText((text, argument) => text.replaceAll(quoted(argument), '')),
  upcase: overText(text => text.toUpperCase()),
  downcase: overText(text => text.toLowerCase()),
  slice: overText((text, argument = '') => {
    const [start = 0, count = 1] = argument.split(', ').map(Number)
    return text.slice(start, start + count)
  }),
  reveal: overText((text, argument = '') => {
    const [first = 0, last = 0] = argument.split(', ').map(Number)
    const isWhole = first + last >= text.length
    const isShown = (at: number) => !isWhole && (at < first || at >= text.length - last)
    return characters(text)
      .map((c, at) => (isShown(at) ? c : 'X'))
      .join('')
  }),
  split: (input, argument) => (typeof input === 'string' ? input.split(quoted(argument)) : input),
  last: input => (Array.isArray(input) ? (input.at(-1) as Json) : input),
  initials: input => {
    if (input === null) return null
    const texts = (isObject(input) ? Object.values(input).filter(isGiven) : [input]).map(scalarText)
    if (texts.includes(undefined)) return undefined
    const words = texts.flatMap(text => text?.match(/\S+/g) ?? [])
    return words.map(word => `${isWholeName(word) ? 'X' : characters(word)[0]}.`).join(' ')
  },
  phone_mask: overText(text => {
    const shown = countryCodes.find(code => text.startsWith(code))?.length ?? 0
    return text.slice(0, shown) + text.slice(shown, -2).replaceAll(/./g, 'X') + text.slice(-2)
  }),
  stringify: input => {
    if (input === null) return null
    return typeof input === 'string' ? input : canonicalText(input)
  },
}

const argument = String.raw`[0-9]+(?:, [0-9]+)?|'[^']'`
const call = String.raw` \| [a-z0-9_]+(?:: (?:${argument}))?`
const output = new RegExp(String.raw`^\{\{ (data|metadata)((?:\.[A-Za-z_]+)*)((?:${call})*) \}\}$`)
const outputs = /(\{\{.*?\}\})/

interface Roots {
  readonly data: Json
  readonly metadata?: Json
}

const partsOf = (expression: string): string[] =>
  expression.split(outputs).filter(part => part !== '')

const isOutput = (part: string): boolean => part.startsWith('{{')

const callsOf = (text: string): readonly (readonly [string, string | undefined])[] =>
  text
    .split(' | ')
    .slice(1)
    .map(call => {
      const [name = '', argument] = call.split(': ')
      return [name, argument] as const
    })

function isKnownOutput(part: string, roots: readonly string[]): boolean {
  const [, root = '', , calls = ''] = output.exec(part) ?? []
  return roots.includes(root) && callsOf(calls).every(([name]) => Object.hasOwn(filters, name))
}

/** @param roots values that the expression may name: `metadata` only in a fingerprint expression */
export const isExpression = (text: string, roots: readonly string[] = ['data']): boolean =>
  text.length <= 400 &&
  !text.includes('{%') &&
  partsOf(text).every(part =>
    isOutput(part) ? isKnownOutput(part, roots) : !part.includes('{{') && !part.includes('}}'),
  )

function evaluateOutput(part: string, roots: Roots): Json | undefined {
  const [, root, path = '', calls = ''] = output.exec(part) ?? []
  let value: Json | undefined = root === 'metadata' ? roots.metadata : roots.data
  for (const step of path.split('.').slice(1)) value = memberOf(value, step) ?? null
  let result: Json | undefined = value ?? null
  for (const [name, argument] of callsOf(calls)) {
    const filter = filters[name]
    if (result === undefined || filter === undefined) return undefined
    result = filter(result, argument)
  }
  return result
}

const rendered = (value: Json): string =>
  value === null ? '' : typeof value === 'string' ? value : canonicalText(value)

/** @returns `undefined` when a filter cannot take its input */
export function evaluate(expression: string, roots: Roots): Json | undefined {
  const parts = partsOf(expression)
  const [first] = parts
  if (parts.length === 1 && first !== undefined && isOutput(first)) {
    return evaluateOutput(first, roots)
  }
  const values = parts.map(part => (isOutput(part) ? evaluateOutput(part, roots) : part))
  if (values.includes(undefined)) return undefined
  return values.map(value => rendered(value ?? null)).join('')
}

/** The text that is indexed or fingerprinted; empty is nothing. `undefined` as `evaluate`. */
export function evaluateText(expression: string, roots: Roots): string | undefined {
  const value = evaluate(expression, roots)
  return value === undefined ? undefined : rendered(value)
}

/** Every string of a mask is an expression. */
export function isMask(mask: Json): boolean {
  if (typeof mask === 'string') return isExpression(mask)
  return typeof mask === 'object' && mask !== null && Object.values(mask).every(isMask)
}

/** @returns `undefined` when any part of the mask cannot be applied: then nothing is shown */
export function applyMask(mask: Json, data: Json): Json | undefined {
  if (typeof mask === 'string') return evaluate(mask, { data })
  if (typeof mask !== 'object' || mask === null) return mask
  const members = Object.entries(mask).map(([name, part]: [string, Json]) => {
    return [name, applyMask(part, data)] as const
  })
  const whole = members.flatMap(([name, part]) =>
    part === undefined ? [] : [[name, part] as const],
  )
  if (whole.length < members.length) return undefined
  return Array.isArray(mask) ? whole.map(([, part]) => part) : Object.fromEntries(whole)
}
