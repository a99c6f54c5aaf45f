/**
 * Operands to closures that fetch their value.
 *
 * Only own members of Maps and elements of arrays are reached; anything else is null, so that no
 * name leads to a prototype, a function or a global. Source: contract section 6, hardening H94.
 * @module
 */
import { isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { spend, type Run } from './run.ts'
import type { Operand, PathStep } from './tree.ts'

export type Source = (run: Run) => Json

/**
 * The member or element that a step picks; null when there is none. Pays for all members: fewer
 * would do, but the same for whatever names the data has.
 */
export const pick = (value: Json, step: PathStep, run: Run): Json => {
  if (typeof step === 'string') {
    if (!isJsonObject(value)) return null
    spend(run, value.size)
    return value.get(step) ?? null
  }
  return isJsonArray(value) ? (value.at(step) ?? null) : null
}

/** Follows all steps of a path. */
export const pickAll = (value: Json, steps: readonly PathStep[], run: Run): Json => {
  let picked = value
  for (const step of steps) picked = pick(picked, step, run)
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
  if (root === 'metadata') return run => pickAll(run.metadata ?? null, steps, run)
  if (first === undefined) return run => run.data
  if (steps.length === 1) return run => pick(run.data, first, run)
  return run => pickAll(run.data, steps, run)
}
