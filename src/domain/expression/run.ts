/**
 * One evaluation: what it may see, and how much work it may still do.
 *
 * Work is counted in steps, about one nanosecond each, because a domain without a clock cannot
 * count time. A filter pays before it works, so that the limit holds whatever the data.
 * Source: contract section 6 (bounded), hardening H91.
 * @module
 */
import { invalid, type ApiError } from '../../errors.ts'
import { evaluationStepsMax } from '../../limits.ts'
import type { Json, JsonObject } from '../json.ts'

export interface Scope {
  /** Field path for errors: `mask`, `search_indexes[0]`. Ours, never the caller's text. */
  readonly at: string
  readonly data: Json
  /** Only a fingerprint expression may name it. */
  readonly metadata?: JsonObject
  /** Only an id expression draws from it. Returns that many bytes, uniform and unpredictable. */
  readonly randomBytes?: (count: number) => Uint8Array
}

export interface Run extends Scope {
  stepsLeft: number
}

export const startRun = (scope: Scope): Run => ({ ...scope, stepsLeft: evaluationStepsMax })

/** The 400 of an evaluation. `expected` says what was wanted, never what was there. */
export const failed = (run: Run, expected: string): ApiError => invalid(run.at, expected)

/** Pays for work that is about to be done. @throws ApiError `invalid_request` when none is left */
export const spend = (run: Run, steps: number): void => {
  run.stepsLeft -= steps
  if (run.stepsLeft < 0) throw failed(run, 'the expression does too much work on this data')
}
