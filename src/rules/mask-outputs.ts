/**
 * The outputs of a mask, and what of the data they read.
 * @module
 */
import { compileTemplate } from '../language/expression/compile.ts'
import type { Output, Path } from '../language/expression/tree.ts'
import { isJsonArray, isJsonObject, type Json } from '../json/json.ts'

/** In order, of all its texts. What is constant in a mask has none. */
export const outputsOf = (mask: Json): readonly Output[] => {
  if (typeof mask === 'string') {
    const { parts } = compileTemplate(mask, 'mask', 'mask')
    return parts.filter(part => typeof part !== 'string')
  }
  if (isJsonArray(mask)) return mask.flatMap(outputsOf)
  return isJsonObject(mask) ? Array.from(mask.values()).flatMap(outputsOf) : []
}

const expiry: readonly Path[] = ['expiration_month', 'expiration_year'].map(name => ({
  kind: 'path',
  root: 'data',
  steps: [name],
}))

/** Every path of an output. `card_exp` reads two members of what it is given, and no others. */
export const pathsOf = ({ source, filters }: Output): readonly Path[] => {
  const [first] = filters
  const isExpiry = first?.name === 'card_exp'
  const operands = [source, ...filters.flatMap(call => call.operands)]
  return operands.flatMap(operand => {
    if (operand.kind === 'literal') return []
    if (!isExpiry || operand !== source) return [operand]
    return expiry.map(({ steps, ...path }) => ({ ...path, steps: [...operand.steps, ...steps] }))
  })
}
