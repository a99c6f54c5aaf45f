/**
 * The definition of a filter: the rules for its arguments, and how it binds them to a step.
 *
 * Rules run when an expression is parsed, so that a step may rely on them. A step is a closure over
 * its constant arguments: evaluating a compiled expression needs no look-ups.
 * @module
 */
import { invariant, present } from '../../../lib/errors.ts'
import { resolve, type Evaluator, type Run, type FilterValue, countCodePoints } from '../run.ts'
import type { Flag, Operand, LiteralValue } from '../tree.ts'

export type Step = (input: FilterValue, run: Run) => FilterValue

/** Returns what was expected when the argument breaks the rule. */
export type ArgumentRule = (operand: Operand) => string | undefined

export interface FilterDefinition {
  readonly required: readonly ArgumentRule[]
  readonly optional?: readonly ArgumentRule[]
  /** Name of its one keyword argument, `true` or `false`. */
  readonly flag?: string
  /** `given`: returns bytes. `taken`: may follow a filter that returns bytes. */
  readonly bytes?: 'given' | 'taken'
  readonly random?: true
  readonly bind: (operands: readonly Operand[], flags: readonly Flag[]) => Step
}

const literalRule =
  (expected: string, accepts: (value: LiteralValue) => boolean): ArgumentRule =>
  operand =>
    operand.kind === 'literal' && accepts(operand.value) ? undefined : `expected ${expected}`

export const anyValue: ArgumentRule = () => undefined

export const integerRule = (least: number, most: number): ArgumentRule =>
  literalRule(
    `an integer from ${least} to ${most}`,
    value => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  )

/** decision: one character is one Unicode code point. */
export const characterRule: ArgumentRule = literalRule(
  'a string of one character',
  value => typeof value === 'string' && countCodePoints(value) === 1,
)

export const textRule: ArgumentRule = literalRule('a string', value => typeof value === 'string')

export const nameRule: ArgumentRule = literalRule(
  'a string that is not empty',
  value => typeof value === 'string' && value !== '',
)

/** Flags are booleans or the strings `'true'` and `'false'` (contract section 6). */
export const flagRule: ArgumentRule = literalRule(
  "'true' or 'false'",
  value => typeof value === 'boolean' || value === 'true' || value === 'false',
)

export const choiceRule = (choices: readonly string[]): ArgumentRule =>
  literalRule(`one of ${choices.join(', ')}`, value => choices.some(choice => choice === value))

/** A string that passes `check`; otherwise the result of `check` says what was expected. */
export const checkedTextRule =
  (check: (text: string) => string | undefined): ArgumentRule =>
  operand =>
    textRule(operand) ?? check(textAt([operand], 0, ''))

/** Returns the evaluator of the required argument at `index`. */
export const sourceAt = (operands: readonly Operand[], index: number): Evaluator =>
  resolve(present(operands[index], 'the parser demands the required arguments'))

const literalAt = (operands: readonly Operand[], index: number): LiteralValue | undefined => {
  const operand = operands[index]
  if (operand === undefined) return undefined
  invariant(operand.kind === 'literal', 'a rule lets only constants reach this filter')
  return operand.value
}

/** The constant integer at `index`, or `fallback` if it was left out. */
export const integerAt = (operands: readonly Operand[], index: number, fallback = 0): number => {
  const value = literalAt(operands, index) ?? fallback
  invariant(typeof value === 'number', 'a rule lets only integers reach this filter')
  return value
}

/** The constant string at `index`, or `fallback` if it was left out. */
export const textAt = (operands: readonly Operand[], index: number, fallback: string): string => {
  const value = literalAt(operands, index) ?? fallback
  invariant(typeof value === 'string', 'a rule lets only strings reach this filter')
  return value
}

/** The constant flag at `index`; false if it was left out. */
export const flagAt = (operands: readonly Operand[], index: number): boolean => {
  const value = literalAt(operands, index)
  return value === true || value === 'true'
}
