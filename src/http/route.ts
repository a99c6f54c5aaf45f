/**
 * A route as data: what is asked for, what is checked, and the one call that answers.
 *
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../domain/caller.ts'
import type { CallerType, Permission } from '../domain/permissions.ts'
import type { Housed } from '../records/room.ts'
import type { Effect, Standing } from '../records/write.ts'
import type { QueryParameters } from './query.ts'

/** One request, authenticated, permitted, parsed and checked against the route's schema. */
export interface Call {
  readonly caller: Caller & Standing & Housed
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryParameters
  readonly body: unknown
  /**
   * Counts the items of a bulk operation against the rate of requests, once for each request.
   * @throws ApiError `too_many_requests`
   */
  readonly countItems: (count: number) => void
}

/** What a request with the same idempotency key and the same body has done before. */
export interface Done {
  readonly effect: Effect
  /** Of the row that landed with the operation: what has a greater one was made later. */
  readonly ordinal: number
}

/** A request that was done before; its body is parsed where its answer needs it. */
export interface Repetition extends Omit<Call, 'body'> {
  readonly body: () => unknown
  readonly done: Done
}

/** `json` is the text of the body, already printed; without it the body is empty. */
export interface Reply {
  readonly status: 200 | 201 | 204
  readonly json?: string
  /** Below the base path. */
  readonly location?: string
  /** Of what an earlier request with the same idempotency key has done. */
  readonly isReplay?: true
}

/** What a body looks like. */
export interface Content {
  readonly schema: TSchema
  /** Whole bodies by a name, for the documentation. */
  readonly examples: Readonly<Record<string, unknown>>
}

export interface BodyRule extends Content {
  readonly contentType: 'application/json' | 'application/merge-patch+json'
  /**
   * Top-level members that the schema leaves alone: they hold a `Json` and keep every detail.
   * `all`: the body is any JSON and arrives as a `Json`, unchecked.
   */
  readonly opaque: ReadonlySet<string> | 'all'
}

/** `hasLocation`: the answer says where the new thing is. */
type Success = {
  readonly status: 200 | 201 | 204
  readonly hasLocation?: true
} & (Content | { readonly schema?: undefined })

export interface Route {
  /** Of the operation, as generated clients call it: a verb and what it is about. */
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** What the summary cannot say, for the documentation. */
  readonly description?: string
  /** `undefined`: any live credential may call. */
  readonly permission: Permission | undefined
  /** What a caller may ask for without that permission. */
  readonly isOwn?: (caller: Caller, params: Call['params']) => boolean
  /** What the credential must be, where that matters; absent: of any kind. */
  readonly callers?: readonly CallerType[]
  readonly body?: BodyRule
  readonly query?: TSchema
  readonly success: Success
  /** Statuses that are told with this operation; any may answer those of every operation too. */
  readonly failures: readonly number[]
  readonly handle: (call: Call) => Promise<Reply>
  /**
   * Answers a repetition by what stands now, as the caller may see it now; `not_found` where that
   * is nothing. Absent: the answer shows a secret once, and a repetition is a conflict.
   */
  readonly replay?: (repetition: Repetition) => Promise<Reply>
}
