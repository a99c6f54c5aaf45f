/**
 * A route as data: what is asked for, what is checked, and the one call that answers.
 *
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../domain/caller.ts'
import type { Permission } from '../domain/permissions.ts'
import type { QueryParameters } from './query.ts'

/** One request, authenticated, permitted, parsed and checked against the route's schema. */
export interface Call {
  readonly caller: Caller
  readonly params: Readonly<Record<string, string>>
  readonly query: QueryParameters
  readonly body: unknown
}

/** `json` is the text of the body, already printed; absent on 204. */
export interface Reply {
  readonly status: 200 | 201 | 204
  readonly json?: string
  readonly location?: string
}

export interface BodyRule {
  readonly contentType: 'application/json' | 'application/merge-patch+json'
  readonly schema: TSchema
  /** Top-level members that the schema leaves alone: they hold a `Json` and keep every detail. */
  readonly opaque: ReadonlySet<string>
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly summary: string
  /** `undefined`: any live credential may call. */
  readonly permission: Permission | undefined
  readonly body?: BodyRule
  readonly query?: TSchema
  /** The schema of each success; the failures are the ones of contract section 3. */
  readonly success: { readonly status: 200 | 201 | 204; readonly schema?: TSchema }
  readonly failures: readonly number[]
  readonly handle: (call: Call) => Promise<Reply>
}
