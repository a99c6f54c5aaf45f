/**
 * An operation as data: its address, checks, action and answers.
 * @module
 */
import type { TSchema } from '@sinclair/typebox'
import type { Caller } from '../rules/caller.ts'
import type { CallerType, Permission } from '../rules/permissions.ts'
import { invalid } from '../lib/errors.ts'
import type { MaybeLater } from '../lib/waiting.ts'
import type { Budgeted } from '../records/budgeted.ts'
import type { Past, WriteContext } from '../records/write-rows.ts'
import type { Params, QueryParameters } from './request.ts'
import type { TextStream } from '../lib/text-stream.ts'

/** One request as its operation gets it: authenticated and permitted, with a well-formed query. */
export interface OperationCall<P = Params> {
  readonly caller: Caller & WriteContext & Budgeted
  readonly params: P
  readonly query: QueryParameters
  /**
   * Counts the items of a bulk operation against the rate of requests, once for each request.
   * @throws ApiError `too_many_requests`
   */
  readonly countItems: (count: number) => void
  /** True once nobody waits for the answer, or the process takes no more requests. */
  readonly isEnding: () => boolean
  /** Waits for something that is not the store, where others have its turn meanwhile. */
  readonly waitAside: <T>(wait: () => Promise<T>) => Promise<T>
  /** Resolves if its credential still may; rejects with the refusal that it gets now. */
  readonly assertStillPermitted: () => Promise<void>
  /** Present if it asks for an answer that goes on, with the id of the last event it has. */
  readonly streamed: { readonly lastEventId: string | undefined } | undefined
}

/** `json` is the text of the body, already printed; without it the body is empty. */
export interface Reply {
  readonly status: 200 | 201 | 204
  readonly json?: string
  /** Content type of a `json` that is several texts of JSON, one a line. */
  readonly isLines?: true
  /** Instead of `json`, for an answer that goes on: server-sent events. */
  readonly stream?: TextStream
  /** Id of the new thing, whose address is below the one that was asked. */
  readonly madeId?: string
  /** Id for the log, if neither `madeId` nor the address tells it. */
  readonly aboutId?: string | undefined
  /** Present if it tells the effect of an earlier request. */
  readonly isReplay?: true
}

/** The shape of a body. */
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
  /** The answer has a text of that schema on each line. */
  readonly isLines?: true
  /** An event as it is sent to callers who accept `text/event-stream`; absent where none is. */
  readonly streamExample?: string
}

/** The names in a pattern such as `/applications/:id/keys/:keyId`. */
type NamesIn<Path extends string> = Path extends `${string}/:${infer Rest}`
  ? Rest extends `${infer Name}/${infer More}`
    ? Name | NamesIn<`/${More}`>
    : Rest
  : never

/**
 * `run` and `replay` are methods, so that an operation of any body is an `Operation`: what they get
 * was checked against the schemas beside them.
 */
export interface Operation<
  B extends TSchema = TSchema,
  Q extends TSchema = TSchema,
  S extends TSchema = TSchema,
  N extends 200 | 201 | 204 = 200 | 201 | 204,
  Method extends string = string,
  Path extends string = string,
> {
  /** As generated clients call it: a verb and what it is about. */
  readonly name: string
  readonly method: Method
  /** Its pattern below the base path. */
  readonly path: Path
  readonly summary: string
  /** More than the summary can say, for the documentation. */
  readonly description?: string
  /**
   * The kind of thing whose id its address ends in, or its answer tells: a log shows a digest of
   * the id of a token, and the plain id of another object.
   */
  readonly about?: 'token' | 'object'
  /** `undefined`: any live credential may call. */
  readonly permission: Permission | undefined
  /** True for a request that the caller may make without that permission. */
  readonly isOwn?: (caller: Caller, params: Params) => boolean
  /** Types of credentials that may call; absent: all. */
  readonly callers?: readonly CallerType[]
  readonly body?: BodyRule<B>
  readonly query?: Q
  /** Its name in the audit log where `dry_run=true` asks for it without its effect. */
  readonly dryRunName?: string
  /** Present if it reads pages of the store, which take longer than all else. */
  readonly readsPages?: true
  readonly success: Success<S, N>
  /** Statuses that are told with this operation; any may answer those of every operation too. */
  readonly failures: readonly number[]
  /** Runs more than once where a write finds something changed: until it lands. */
  run(
    call: OperationCall<Readonly<Record<NamesIn<Path>, string>>>,
    body: B['static'],
  ): MaybeLater<Reply>
  /**
   * Answers a repetition by what stands now, as the caller may see it now. Absent where the answer
   * shows a secret once: then a repetition is a conflict.
   * @param body parsed where it is asked for
   */
  replay?(
    call: OperationCall<Readonly<Record<NamesIn<Path>, string>>>,
    done: Past,
    body: () => MaybeLater<B['static']>,
  ): Promise<Reply>
  /**
   * Charges a repetition for what it tells of the body that came first: 1 if it has another one, 0
   * if that is not known yet. Absent where bodies hold nothing that a caller may not see.
   * @throws ApiError `too_many_requests`
   */
  chargeRepeat?(caller: Caller, count: 0 | 1): void
}

const flagTexts: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** @throws ApiError `invalid_request` for a value that is neither true nor false, or several */
export function flagOf(query: QueryParameters, name: string): boolean {
  const values = query.get(name)
  if (values === undefined) return false
  const [value, ...more] = values.map(text => flagTexts.get(text))
  if (value !== undefined && more.length === 0) return value
  throw invalid(`query.${name}`, 'expected true or false')
}

/** Name of an operation in the audit log: nothing changes in a dry run, and none is an event. */
export const loggedName = (
  { name, dryRunName = name }: Pick<Operation, 'name' | 'dryRunName'>,
  query: QueryParameters,
): string => (query.get('dry_run')?.includes('true') === true ? dryRunName : name)

const readingPermissions: ReadonlySet<string> = new Set([
  'token:read',
  'token:search',
  'token:use',
  'access:explain',
  'expression:preview',
])

/** True if it changes nothing, by whatever method. */
export const isReading = ({ method, permission }: Pick<Operation, 'method' | 'permission'>) =>
  method === 'GET' || (permission !== undefined && readingPermissions.has(permission))

/** The others change nothing, or the same thing once more. */
const idempotentMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/**
 * decision: what only reads is asked anew, since what may be read can change; a second session
 * harms nobody, but a repeated one would be the session of somebody else.
 */
const unkeptNames: ReadonlySet<string> = new Set(['createSession'])

/** True if the effects of requests for an operation are kept under their idempotency keys. */
export const takesIdempotencyKey = (
  rule: Pick<Operation, 'method' | 'name' | 'permission'>,
): boolean => idempotentMethods.has(rule.method) && !unkeptNames.has(rule.name) && !isReading(rule)

/** An operation, with the types of its body, query and answer as its schemas say. */
export const operation = <
  const Method extends 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  const Path extends string,
  N extends 200 | 201 | 204,
  B extends TSchema = TSchema & { readonly static: unknown },
  Q extends TSchema = TSchema & { readonly static: Record<string, string> },
  S extends TSchema = TSchema & { readonly static: undefined },
>(
  rule: Operation<B, Q, S, N, Method, Path>,
): Operation<B, Q, S, N, Method, Path> => rule
