/**
 * What an expression means, as plain data: literal text and outputs, an output being one operand
 * and the filters that it passes through.
 *
 * A tree is made by `parse-expression.ts` alone, and the tests print it back. It holds no position
 * and no reference to code. Source: contract section 6.
 * @module
 */
import type { ExactNumber } from '../../lib/json/json.ts'

/** What the expression is for: decides which names and which filters it may use. */
export type TemplateUse = 'id' | 'mask' | 'search_index' | 'fingerprint'

export type LiteralValue = null | boolean | number | string | ExactNumber

/** A string picks an own member of an object, a number an element of an array (-1 the last). */
export type PathStep = string | number

export interface Literal {
  readonly kind: 'literal'
  readonly value: LiteralValue
}

export interface Path {
  readonly kind: 'path'
  readonly root: 'data' | 'metadata'
  readonly steps: readonly PathStep[]
}

export type Operand = Literal | Path

/** A keyword argument, for the one filter that has one: `default: 'x', allow_false: true`. */
export interface Flag {
  readonly name: string
  readonly value: boolean
}

export interface FilterCall {
  readonly name: string
  readonly operands: readonly Operand[]
  readonly flags: readonly Flag[]
}

export interface Output {
  readonly source: Operand
  readonly filters: readonly FilterCall[]
}

/** A string is literal text, never empty and never next to another one. */
export type Part = string | Output

export type Template = readonly Part[]
