/**
 * Operations on the audit log.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type {
  LogCheckpoint,
  LogEntityType,
  LogEntry,
  LogProof,
  LogStretch,
  Transform,
} from './interface.ts'
import { below, withQuery } from './paths.ts'
import type { WalkChoice } from './token.ts'
import { walkStretches } from './walk.ts'

/** All that is given must hold. */
export interface LogFilter {
  /** Kind of what was asked for, such as `token`. */
  readonly entity_type?: string
  readonly entity_id?: string
  /** The first instant. */
  readonly start_date?: Date | string
  /** The first instant that is too late. */
  readonly end_date?: Date | string
  /** Such as `getToken`. */
  readonly operation?: string
  readonly actor_id?: string
  readonly key_id?: string
  /** The transform that showed most of any token. */
  readonly transform?: Transform
  /** Status of the answer. */
  readonly result?: number
  readonly trace_id?: string
  /** Client address. */
  readonly from?: string
}

/** Operations on the audit log of the tenant, for a management application with `log:read`. */
export interface Logs {
  /**
   * Every entry that matches, newest first.
   *
   * @throws CofferError (each step) `invalid_request`, `forbidden`
   * @throws TypeError (the first step) for an invalid `size` or `limit`
   * @example
   * for await (const { created_at, actor_id } of manager.logs.list({ entity_id: id })) {
   *   console.log(created_at, actor_id)
   * }
   */
  list(filter?: LogFilter & WalkChoice, options?: CallOptions): AsyncGenerator<LogEntry, void>

  /**
   * The kinds of things that entries are about.
   *
   * @throws CofferError `forbidden`
   * @example
   * const kinds = await manager.logs.entityTypes()
   */
  entityTypes(options?: CallOptions): Answer<readonly LogEntityType[]>

  /**
   * The newest signed checkpoint: keep it elsewhere, and it shows later what was cut off.
   *
   * @throws CofferError `forbidden`, `not_found` while nothing is signed
   * @example
   * const { note } = await manager.logs.checkpoint()
   */
  checkpoint(options?: CallOptions): Answer<LogCheckpoint>

  /**
   * The proof that an entry is in the log, by its sequence.
   *
   * @throws CofferError `forbidden`, `not_found`, also while it is not signed
   * @example
   * const { entry, salt, proof, note } = await manager.logs.proof('4711')
   */
  proof(id: string, options?: CallOptions): Answer<LogProof>
}

interface Stretch {
  readonly pagination: LogStretch
  readonly data: readonly LogEntry[]
}

const textOf = (instant: Date | string | undefined): string | undefined =>
  instant instanceof Date ? instant.toISOString() : instant

/** @internal */
export const logOperations = (ask: Ask): Logs => ({
  list: ({ size, limit, start_date, end_date, ...filter } = {}, options = {}) =>
    walkStretches<LogEntry>({ size, limit }, (start, stretch) => {
      const window = { start_date: textOf(start_date), end_date: textOf(end_date) }
      const path = withQuery('/logs', { ...filter, ...window, size: stretch, start })
      return ask.plain<Stretch>('GET', path, undefined, options)
    }),

  entityTypes: options => ask.plain('GET', '/logs/entity-types', undefined, options),

  checkpoint: options => ask.plain('GET', '/logs/checkpoint', undefined, options),

  proof: (id, options) => ask.plain('GET', `${below('/logs', id)}/proof`, undefined, options),
})
