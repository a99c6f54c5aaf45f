/**
 * The answer to a create, and its outcome.
 *
 * Source: contract sections 5 and 8.
 * @module
 */
import type { ApiError } from '../../lib/errors.ts'
import type { Transform } from '../../rules/access.ts'

export interface CreateAnswer {
  readonly id: string
  /** The token as the answer has it. */
  readonly json: string
  /** Transform of the answer; absent if it shows the id alone. */
  readonly transform?: Transform
  /** Present where deduplication was asked for. */
  readonly deduplicated?: boolean
  /** Version of the equal token's row; absent: 1, as for a new one. */
  readonly version?: number
}

/** The answer to one create, or the error that refuses it. */
export type Outcome = CreateAnswer | ApiError
