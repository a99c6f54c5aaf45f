/**
 * The meaning of an expression, as plain data: literal text and outputs. An output is one operand
 * and the filters that it passes through.
 *
 * Only `parse-expression.ts` makes trees, and the tests print them back. A tree holds no position
 * and no reference to code. Source: contract section 6.
 * @module
 */
import type { ExactNumber } from '../../lib/json/json.ts'

/** Purpose of the expression: decides which names and which filters it may use. */
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

/** A string is literal text, never empty and never adjacent to another one. */
export type Part = string | Output

export type Template = readonly Part[]
