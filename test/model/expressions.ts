/**
 * Expressions as the model knows them: the few that its runs use, read by one pattern.
 *
 * Source: contract section 6. What this pattern does not match is a mistake that must be refused.
 * @module
 */
import { canonicalText, memberOf, type Json } from './json.ts'

/** `undefined` is a value that the filter cannot take. */
type Filter = (input: Json, argument: string | undefined) => Json | undefined

const characters = (text: string): string[] => [...text]

const scalarText = (input: Json): string | undefined =>
  typeof input === 'object' ? undefined : String(input)

/** Over text, and over numbers and booleans as text; null stays null. */
const overText =
  (apply: (text: string, argument: string | undefined) => string): Filter =>
  (input, argument) => {
    if (input === null) return null
    const text = scalarText(input)
    return text === undefined ? undefined : apply(text, argument)
  }

const filters: Readonly<Record<string, Filter>> = {
  last4: overText(text => characters(text).slice(-4).join('')),
  reveal_last: overText((text, argument) => {
    const all = characters(text)
    const hidden = Math.max(0, all.length - Number(argument))
    return all.map((c, index) => (index < hidden && c !== '-' ? 'X' : c)).join('')
  }),
  remove: overText(text => text.replaceAll('-', '')),
  stringify: input => {
    if (input === null) return null
    return typeof input === 'string' ? input : canonicalText(input)
  },
}

const output =
  /^\{\{ (data|metadata)((?:\.[A-Za-z_]+)*)((?: \| [a-z0-9_]+(?:: (?:[0-9]+|'-'))?)*) \}\}$/
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

/** @param roots what the expression may speak of: `metadata` only in a fingerprint expression */
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
