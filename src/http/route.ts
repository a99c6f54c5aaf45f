/**
 * A route as data: what is asked for, what is checked, and the one call that answers.
 *
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../domain/caller.ts'
import type { CallerType, Permission } from '../domain/permissions.ts'
import type { QueryParameters } from './query.ts'

/** One request, authenticated, permitted, parsed and checked against the route's schema. */
export interface Call {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryParameters
  readonly body: unknown
}

/** `json` is the text of the body, already printed; without it the body is empty. */
export interface Reply {
  readonly status: 200 | 201 | 204
  readonly json?: string
  /** Below the base path. */
  readonly location?: string
  /** Kept from an earlier request with the same idempotency key. */
  readonly isReplay?: true
  /** It repeats what was sent, which may hold what must never be stored. */
  readonly holdsInput?: true
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
export type Success = {
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
}
