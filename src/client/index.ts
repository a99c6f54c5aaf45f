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
import { attemptMsDefault, retriesDefault } from './limits.ts'
import { assertAttempts, assertFunction, assertKnown, assertNotation } from './options.ts'
import { now, random, sleep } from './platform.ts'
import { sessionOperations, type Sessions } from './sessions.ts'
import { tokenOperations, type Tokens } from './tokens.ts'

export { CofferError, type ErrorCode } from './error.ts'
export { ref } from './reference.ts'
export type * from './interface.ts'
export type {
  DataOf,
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
export type { Search, Tokens } from './tokens.ts'
export type { Deleted } from './deletions.ts'
export type { Bulk, Tokenized } from './bulk.ts'
export type { EachOptions, Progress } from './chunks.ts'
export type { Sessions } from './sessions.ts'
export type { ApplicationFilter, ApplicationKeys, Applications } from './applications.ts'
export type { Permissions, TenantSelf } from './applications.ts'
export type { Answer, CallOptions, Fetch, HeaderTexts, Notation } from './call.ts'
export type { RequestFacts, ResponseFacts, Traced } from './call.ts'

/** Options of a client. */
export interface ClientOptions {
  /** As `https://vault.example`, with the base path where the vault has one. */
  readonly address: string | URL
  /** Of an application or a session; asked for each attempt where it is a function. */
  readonly key: string | (() => string | Promise<string>)
  /** Of each attempt, in milliseconds; 30 seconds where it is left out. */
  readonly timeoutMs?: number
  /** How often a call is sent again at most; 3 where it is left out. */
  readonly retries?: number
  /** Of every request, beside those that the client sets by itself. */
  readonly headers?: HeaderTexts
  /** Told before each attempt. What it throws, the call throws, and nothing is sent. */
  readonly onRequest?: (request: RequestFacts) => void
  /** Told after each attempt, also where no answer came. What it throws, the call throws. */
  readonly onResponse?: (response: ResponseFacts) => void
  /** In place of the platform's, as `overSocket(path)` of `coffer/client/socket`. */
  readonly fetch?: Fetch
  /**
   * In place of `JSON`, which rounds numbers that no double holds. What it makes of an answer stays
   * as it is: instants are no dates then.
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
  // A key that is no text in a header would fail without a word of what is wrong.
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
 * @throws TypeError for an option that is unknown, or a value that can be none
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
  }
}
