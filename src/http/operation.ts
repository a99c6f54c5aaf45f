/**
 * An operation as data: what is asked for, what is checked, and what its answers look like.
 *
 * It stands beside the handler of its route, as the hooks of that route.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../rules/caller.ts'
import type { CallerType, Permission } from '../rules/permissions.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Budgeted } from '../records/budgeted.ts'
import type { Effect, WriteContext } from '../records/write-rows.ts'
import type { Params, QueryParameters } from './request.ts'

/** One request, authenticated and permitted, whose query and body are well-formed. */
export interface OperationCall {
  readonly caller: Caller & WriteContext & Budgeted
  readonly query: QueryParameters
  /**
   * Counts the items of a bulk operation against the rate of requests, once for each request.
   * @throws ApiError `too_many_requests`
   */
  readonly countItems: (count: number) => void
}

/** What a request with the same idempotency key and the same body has done before. */
export interface EarlierEffect {
  readonly effect: Effect
  /** Of the row that landed with the operation: what has a greater one was made later. */
  readonly ordinal: number
}

/** A request that was done before; its body is parsed where its answer needs it. */
export interface Repetition extends OperationCall {
  readonly body: () => MaybeLater<unknown>
  readonly done: EarlierEffect
}

/** `json` is the text of the body, already printed; without it the body is empty. */
export interface Reply {
  readonly status: 200 | 201 | 204
  readonly json?: string
  /** Of what was made, below the address that was asked. */
  readonly madeId?: string
  /** Of what it was about, for the log, where neither that nor the address says so. */
  readonly aboutId?: string | undefined
  /** Of what an earlier request with the same idempotency key has done. */
  readonly isReplay?: true
}

/** Runs the operation, which may be more than once: until its write lands. */
export type RunOperation = (call: OperationCall) => MaybeLater<Reply>

/** Answers a repetition by what stands now, as the caller may see it now. */
export type Replay = (repetition: Repetition) => Promise<Reply>

/**
 * Answers a request: every handler ends in it. Its type is that of no value, since what is sent is
 * printed text, and what its type says stands in the hooks of the route.
 * @param replay absent where the answer shows a secret once: then a repetition is a conflict
 */
export type Perform = (run: RunOperation, replay?: Replay) => MaybeLater<never>

/** What a body looks like. */
export interface Content<S extends TSchema = TSchema> {
  readonly schema: S
  /** Whole bodies by a name, for the documentation. */
  readonly examples: Readonly<Record<string, unknown>>
}

export interface BodyRule<S extends TSchema = TSchema> extends Content<S> {
  readonly contentType: 'application/json' | 'application/merge-patch+json'
  /** A request may come without any; the operation then gets `undefined`. */
  readonly isOptional?: true
  /**
   * Top-level members that the schema leaves alone: they hold a `Json` and keep every detail.
   * `all`: the body is any JSON and arrives as a `Json`, unchecked.
   */
  readonly opaque: ReadonlySet<string> | 'all'
}

/** Without a schema the body is empty. `hasLocation`: the answer says where the new thing is. */
interface Success<S extends TSchema = TSchema, N extends number = number> {
  readonly status: N
  readonly schema?: S
  readonly examples?: Content['examples']
  readonly hasLocation?: true
}

export interface Operation<
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  S extends TSchema = TSchema,
  N extends 200 | 201 | 204 = 200 | 201 | 204,
> {
  /** As generated clients call it: a verb and what it is about. */
  readonly name: string
  readonly summary: string
  /** What the summary cannot say, for the documentation. */
  readonly description?: string
  /**
   * Whose id its address ends in, or its answer tells: a log has a digest of that of a token, and
   * the id of what is administered.
   */
  readonly about?: 'token' | 'object'
  /** `undefined`: any live credential may call. */
  readonly permission: Permission | undefined
  /** What a caller may ask for without that permission. */
  readonly isOwn?: (caller: Caller, params: Params) => boolean
  /** What the credential must be, where that matters; absent: of any kind. */
  readonly callers?: readonly CallerType[]
  readonly body?: BodyRule<B>
  readonly query?: Q
  /** Whether it reads pages of the store, which are longer than all else. */
  readonly readsPages?: true
  readonly success: Success<S, N>
  /** Statuses that are told with this operation; any may answer those of every operation too. */
  readonly failures: readonly number[]
}

/** An operation where it is: at a method and a path below the base path. */
export interface Route extends Operation {
  readonly method: string
  readonly path: string
}

const readingPermissions: ReadonlySet<string> = new Set(['token:read', 'token:search', 'token:use'])

/** Whether it changes nothing, by whatever method. */
export const isReading = ({ method, permission }: Pick<Route, 'method' | 'permission'>): boolean =>
  method === 'GET' || (permission !== undefined && readingPermissions.has(permission))

/** The others change nothing, or the same thing once more. */
const idempotentMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * decision: what only reads is asked anew, since what may be read can change; a second session
 * harms nobody, but a repeated one would be the session of somebody else.
 */
const unkeptNames: ReadonlySet<string> = new Set(['createSession'])

/** What of a route decides whether and where it is kept what its requests have done. */
export type KeptRoute = Pick<Route, 'method' | 'name' | 'permission'>

/** Whether it is kept what requests of a route have done. */
export const isKept = (route: KeptRoute): boolean =>
  idempotentMethods.has(route.method) && !unkeptNames.has(route.name) && !isReading(route)

/** What the framework and its typed client know of an operation. */
interface Hooks<B extends TSchema, Q extends TSchema, S extends TSchema, N extends number> {
  readonly parse: 'none'
  readonly operation: Operation
  readonly body: B
  readonly query: Q
  readonly response: Record<N, S>
}

/**
 * The hooks of a route. The schemas are there for its types alone: what they say is checked around
 * the operation, since the framework would read bodies before their callers are known, hash names
 * of queries without a seed, and repeat what came in its errors. They are for one route: the
 * framework puts into them what its macros make.
 */
export const operation = <
  N extends 200 | 201 | 204,
  B extends TSchema = TSchema & { readonly static: unknown },
  Q extends TSchema = TSchema & { readonly static: Record<string, string> },
  S extends TSchema = TSchema & { readonly static: undefined },
>(
  rule: Operation<B, Q, S, N>,
) => ({ parse: 'none', operation: rule }) as unknown as Hooks<B, Q, S, N>
