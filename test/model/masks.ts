/**
 * Masks that a caller may give a token. Source: contract section 6, "Masks are guarded by default".
 *
 * Digits are told apart by letters in their places, which works for the filters that the model
 * knows: none of them looks at what it shows or hides.
 * @module
 */
import { applyMask, evaluate } from './expressions.ts'
import { sorted, type Json } from './json.ts'
import type { ModelToken, Transform } from './state.ts'
import { guardedNumber, modelTypes } from './token-types.ts'

const letters = 'abcdefghijklmnopqrs'

const outputsOf = (mask: Json | undefined): string[] => {
  if (typeof mask === 'string') return mask.match(/\{\{.*?\}\}/g) ?? []
  return typeof mask === 'object' && mask !== null ? Object.values(mask).flatMap(outputsOf) : []
}

const pathOf = (output: string): string => /data[A-Za-z_.]*/.exec(output)?.[0] ?? ''

const numberPath = (type: string): string => (type === 'card' ? 'data.number' : 'data')

/** Returns the letters shown; `undefined` if an output depends on digits that it does not show. */
function lettersShown(type: string, output: string, length: number): string[] | undefined {
  const path = pathOf(output)
  if (path !== numberPath(type) || output.includes('stringify')) return undefined
  const text = letters.slice(0, length)
  const shown = evaluate(output, { data: type === 'card' ? { number: text } : text })
  return [...String(shown)].filter(character => letters.includes(character))
}

const isOfOthers = (type: string, output: string): boolean =>
  pathOf(output) !== 'data' && (type !== 'card' || !/^data\.(?:number|cvc)/.test(pathOf(output)))

function showsEnds({ type, mask, data }: Masked): boolean {
  const { length } = guardedNumber(type, data) ?? ''
  const bin = length < 16 ? 6 : 8
  const ends = letters.slice(0, bin) + letters.slice(length - 4, length)
  return outputsOf(mask)
    .filter(output => !isOfOthers(type, output))
    .every(output => lettersShown(type, output, length)?.every(each => ends.includes(each)))
}

type Masked = Pick<ModelToken, 'type' | 'mask' | 'data'>

const isText = (some: Json | undefined, other: Json | undefined): boolean =>
  JSON.stringify(sorted(some ?? null)) === JSON.stringify(sorted(other ?? null))

const isDefault = ({ type, mask }: Masked): boolean => isText(mask, modelTypes[type]?.mask)

const isCard = ({ type, data }: Masked): boolean => guardedNumber(type, data) !== undefined

/** Returns true if a card mask shows no more than another, for a number of that length. */
function isNarrower(type: string, next: Json, standing: Json | undefined, length: number): boolean {
  const shown = outputsOf(standing)
  const digits = shown.flatMap(output => lettersShown(type, output, length) ?? [])
  const bare = shown.filter(output => !output.includes('|')).map(pathOf)
  return outputsOf(next).every(output => {
    if (shown.includes(output)) return true
    if (bare.some(path => `${pathOf(output)}.`.startsWith(`${path}.`))) return true
    return lettersShown(type, output, length)?.every(letter => digits.includes(letter)) ?? false
  })
}

export const mayMask = (transform: Transform, token: Masked): boolean =>
  transform === 'reveal' ||
  !isCard(token) ||
  token.mask === undefined ||
  isDefault(token) ||
  showsEnds(token)

function mayRemaskCard(before: ModelToken, after: ModelToken): boolean {
  const { type, mask, data } = after
  if (mask === undefined) return true
  const number = guardedNumber(type, data) ?? ''
  const isShowing = before.mask !== undefined && applyMask(before.mask, before.data) !== undefined
  const standing = isShowing ? before.mask : undefined
  const isKept = isText(before.mask, mask)
  if (!isKept && !isNarrower(type, mask, standing, number.length)) return false
  const isSameLength = guardedNumber(type, before.data)?.length === number.length
  return isSameLength || isDefault(after) || showsEnds(after)
}

export function mayRemask(transform: Transform, before: ModelToken, after: ModelToken): boolean {
  if (transform === 'reveal') return true
  const isFoundAlike =
    isText(before.indexes, after.indexes) &&
    before.fingerprintExpression === after.fingerprintExpression
  if (!isFoundAlike) return false
  // decision: a caller who sees nothing of a token changes nothing of how it is shown.
  return transform === 'mask' && isCard(after)
    ? mayRemaskCard(before, after)
    : isText(before.mask, after.mask)
}
