/**
 * One evaluation: what it may see, how much work it may do, and how it fetches values.
 * @module
 */
import { ApiError, invalid } from '../../errors.ts'
import { evaluationStepsMax } from '../../limits.ts'
import { type Json, type JsonObject, isJsonArray, isJsonObject } from '../../json/json.ts'
import type { Operand, PathStep } from './tree.ts'

/*
 * One evaluation: what it may see, and how much work it may still do.
 *
 * Work is counted in steps, about one nanosecond each, because a domain without a clock cannot
 * count time. A filter pays before it works, so that the limit holds whatever the data.
 * Source: contract section 6 (bounded), hardening H91.
 */

/** Counts the steps of all evaluations of one request. */
export interface Meter {
  stepsSpent: number
  readonly stepsMax: number
}

export interface Scope {
  /** Field path for errors: `mask`, `search_indexes[0]`. Ours, never the caller's text. */
  readonly at: string
  readonly data: Json
  /** Only a fingerprint expression may name it. */
  readonly metadata?: JsonObject
  /** Only an id expression draws from it. Returns that many bytes, uniform and unpredictable. */
  readonly randomBytes?: (count: number) => Uint8Array
  /** What it costs counts there too; absent: it is bounded by itself. */
  readonly meter?: Meter | undefined
}

export interface Run extends Scope {
  stepsLeft: number
}

export const startRun = (scope: Scope): Run => ({ ...scope, stepsLeft: evaluationStepsMax })

/** The 400 of an evaluation. `expected` says what was wanted, never what was there. */
export const failed = (run: Run, expected: string): ApiError => invalid(run.at, expected)

/**
 * The 400 of a request whose evaluations come to too much. No path: it is none of them alone.
 */
const overspent = () =>
  new ApiError('invalid_request', 'expected expressions and masks that do less work together')

/** For whoever goes on where one evaluation fails. @throws ApiError `invalid_request` */
export const assertAffordable = (meter: Meter | undefined): void => {
  if (meter !== undefined && meter.stepsSpent > meter.stepsMax) throw overspent()
}

/** Pays for work that is about to be done. @throws ApiError `invalid_request` when none is left */
export const spend = (run: Run, steps: number): void => {
  run.stepsLeft -= steps
  if (run.stepsLeft < 0) throw failed(run, 'the expression does too much work on this data')
  const { meter } = run
  if (meter === undefined) return
  meter.stepsSpent += steps
  if (meter.stepsSpent > meter.stepsMax) throw overspent()
}

/*
 * Operands to closures that fetch their value.
 *
 * Only own members of Maps and elements of arrays are reached; anything else is null, so that no
 * name leads to a prototype, a function or a global. Source: contract section 6, hardening H94.
 */

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
