/**
 * One evaluation: what it may see, and how much work it may still do.
 *
 * Work is counted in steps, about one nanosecond each, because a domain without a clock cannot
 * count time. A filter pays before it works, so that the limit holds whatever the data.
 * Source: contract section 6 (bounded), hardening H91.
 * @module
 */
import { ApiError, invalid } from '../../errors.ts'
import { evaluationStepsMax } from '../../limits.ts'
import type { Json, JsonObject } from '../../json/json.ts'

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
