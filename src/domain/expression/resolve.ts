/**
 * Operands to closures that fetch their value.
 *
 * Only own members of Maps and elements of arrays are reached; anything else is null, so that no
 * name leads to a prototype, a function or a global. Source: contract section 6, hardening H94.
 * @module
 */
import { isJsonArray, isJsonObject, type Json } from '../json.ts'
import type { Run } from './run.ts'
import type { Operand, PathStep } from './tree.ts'

export type Source = (run: Run) => Json

/** The member or element that a step picks; null when there is none. */
export const pick = (value: Json, step: PathStep): Json => {
  if (typeof step === 'string') return isJsonObject(value) ? (value.get(step) ?? null) : null
  return isJsonArray(value) ? (value.at(step) ?? null) : null
}

/** Follows all steps of a path. */
export const pickAll = (value: Json, steps: readonly PathStep[]): Json => {
  let picked = value
  for (const step of steps) picked = pick(picked, step)
  return picked
}

/** Binds an operand. The closure allocates nothing. */
export const resolve = (operand: Operand): Source => {
  if (operand.kind === 'literal') {
    const { value } = operand
    return () => value
  }
  const { root, steps } = operand
  const [first] = steps
  if (root === 'metadata') return run => pickAll(run.metadata ?? null, steps)
  if (first === undefined) return run => run.data
  if (steps.length === 1) return run => pick(run.data, first)
  return run => pickAll(run.data, steps)
}
