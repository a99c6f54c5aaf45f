/**
 * The typed client: `fetch` alone, for Bun, Node.js, Deno, browsers and edge workers.
 *
 *     const vault = createClient({ address: 'http://127.0.0.1:3333', key })
 *     const { id } = await vault.tokens.create({ type: 'card', data: { number } })
 * @module
 */
import { applicationOperations, permissionOperations, tenantOperations } from './applications.ts'
import type { Applications, Permissions, TenantSelf } from './applications.ts'
import { makeAsk } from './ask.ts'
import { bulkOperations, type Bulk } from './bulk.ts'
import type { Fetch, HeaderTexts, Notation, RequestFacts, ResponseFacts, Wire } from './call.ts'
import { eventOperations, type EventFeed } from './events.ts'
import { attemptMsDefault, retriesDefault } from './limits.ts'
import { expressionOperations, type Expressions } from './expressions.ts'
import { accessOperations, type AccessFacts } from './access.ts'
import { logOperations, type Logs } from './logs.ts'
import { assertAttempts, assertFunction, assertKnown, assertNotation } from './options.ts'
import { now, random, sleep } from './platform.ts'
import { sessionOperations, type Sessions } from './sessions.ts'
import { statusOperations, type VaultStatus } from './status.ts'
import { tokenOperations, type Tokens } from './tokens.ts'
import { webhookOperations, type Webhooks } from './webhooks.ts'

export { CofferError, type ErrorCode } from './error.ts'
export { ref } from './reference.ts'
export type * from './interface.ts'
export type {
  DataOf,
  LessShown,
  Made,
  NewToken,
  Page,
  PageChoice,
  TextData,
  Token,
  TokenChanges,
  TokenFilter,
  WalkChoice,
} from './token.ts'
export type { ReadOptions, Search, Tokens } from './tokens.ts'
export type { Deleted } from './deletions.ts'
export type { Bulk, Tokenized } from './bulk.ts'
export type { EachOptions, Progress } from './chunks.ts'
export type { Sessions } from './sessions.ts'
export type {
  ApplicationFilter,
  ApplicationKeys,
  Applications,
  UpdateOptions,
} from './applications.ts'
export type { Permissions, TenantSelf } from './applications.ts'
export type { AccessFacts } from './access.ts'
export type { VaultStatus } from './status.ts'
export type { Expressions } from './expressions.ts'
export type { LogFilter, Logs } from './logs.ts'
export type { Webhooks } from './webhooks.ts'
export type { EventChoice, EventFeed } from './events.ts'
export type { Answer, CallOptions, Fetch, HeaderTexts, Notation } from './call.ts'
export type { RequestFacts, ResponseFacts, Traced } from './call.ts'

/** Options of a client. */
export interface ClientOptions {
  /** As `https://vault.example`, with any base path. */
  readonly address: string | URL
  /** Key of an application or a session; a function is called for each attempt. */
  readonly key: string | (() => string | Promise<string>)
  /** Bound of each attempt, in milliseconds; default: 30 seconds. */
  readonly timeoutMs?: number
  /** Most retries of a call; default: 3. */
  readonly retries?: number
  /** Sent with every request, beside the client's own. */
  readonly headers?: HeaderTexts
  /** Called before each attempt. If it throws, so does the call, and nothing is sent. */
  readonly onRequest?: (request: RequestFacts) => void
  /** Called after each attempt, also without an answer. If it throws, so does the call. */
  readonly onResponse?: (response: ResponseFacts) => void
  /** Replaces the platform's, as `overSocket(path)` of `coffer/client/socket`. */
  readonly fetch?: Fetch
  /**
   * Replaces `JSON`, which rounds numbers that no double holds. Its values stay as they are:
   * instants are no dates then.
   */
  readonly json?: Notation
}

const wanted = 'such as https://vault.example or http://127.0.0.1:3333/vault'

/** @throws TypeError */
function addressOf(address: string | URL): string {
  const url = URL.canParse(String(address)) ? new URL(address) : undefined
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isHttp || url.username + url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError(`createClient: expected an address ${wanted}`)
  }
  return url.href.replace(/\/+$/, '')
}

/** @throws TypeError */
function keyOf(key: ClientOptions['key']): Wire['key'] {
  if (typeof key === 'function') return key
  // Otherwise a key that fits no header would fail without a reason.
  if (typeof key === 'string' && /^[!-~]+$/.test(key)) return () => key
  throw new TypeError('createClient: expected an API key, such as key_… or key_sess_…')
}

/** Operations of a vault, with one key. */
export interface Client extends Bulk {
  readonly tokens: Tokens
  readonly sessions: Sessions
  readonly applications: Applications
  readonly tenant: TenantSelf
  readonly permissions: Permissions
  readonly logs: Logs
  readonly webhooks: Webhooks
  readonly events: EventFeed
  readonly access: AccessFacts
  readonly status: VaultStatus
  readonly expressions: Expressions
}

const names = [
  'address',
  'key',
  'timeoutMs',
  'retries',
  'headers',
  'onRequest',
  'onResponse',
  'fetch',
  'json',
]

const nothing = (): void => {}

/**
 * A client of the vault at an address. Nothing is sent before its first call.
 *
 * @throws TypeError for an unknown option or an invalid value
 * @example
 * const vault = createClient({ address: 'https://vault.example', key: process.env.VAULT_KEY })
 */
export function createClient(options: ClientOptions): Client {
  const { timeoutMs = attemptMsDefault, retries = retriesDefault, headers = {} } = options
  const { onRequest = nothing, onResponse = nothing } = options
  assertKnown('createClient', options, names)
  assertAttempts(options)
  for (const name of ['onRequest', 'onResponse', 'fetch'] as const) {
    assertFunction(name, options[name])
  }
  assertNotation('json', options.json)
  const ask = makeAsk({
    address: addressOf(options.address),
    key: keyOf(options.key),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    retries,
    headers,
    onRequest,
    onResponse,
    random,
    now,
    sleep,
    json: options.json,
  })
  return {
    tokens: tokenOperations(ask),
    ...bulkOperations(ask),
    sessions: sessionOperations(ask),
    applications: applicationOperations(ask),
    tenant: tenantOperations(ask),
    permissions: permissionOperations(ask),
    logs: logOperations(ask),
    webhooks: webhookOperations(ask),
    events: eventOperations(ask),
    access: accessOperations(ask),
    status: statusOperations(ask),
    expressions: expressionOperations(ask),
  }
}
