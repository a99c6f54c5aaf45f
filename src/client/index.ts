/**
 * The typed client: `fetch` alone, for Bun, Node.js, Deno, browsers and edge workers.
 *
 *     const vault = createClient({ address: 'http://127.0.0.1:3333', key })
 *     const { id } = await vault.tokens.create({ type: 'card', data: { number } })
 * @module
 */
import { applicationOperations, permissionOperations, tenantOperations } from './applications.ts'
import { makeAsk } from './ask.ts'
import { attemptMsDefault, retriesDefault } from './limits.ts'
import { random, sleep } from './platform.ts'
import { sessionOperations } from './sessions.ts'
import { bulkOperations, tokenOperations } from './tokens.ts'
import type { Fetch, Wire } from './wire.ts'

export { CofferError, type ErrorCode } from './error.ts'
export type * from './interface.ts'
export type { NewToken, Page, PageChoice, Token, TokenChanges, TokenFilter } from './tokens.ts'
export type { ApplicationFilter } from './applications.ts'
export type { CallOptions, Fetch } from './wire.ts'

export interface ClientOptions {
  /** As `https://vault.example`, with the base path where the vault has one. */
  readonly address: string | URL
  /** Of an application or a session; asked for each attempt where it is a function. */
  readonly key: string | (() => string | Promise<string>)
  /** Of each attempt, in milliseconds; 30 seconds where it is left out. */
  readonly timeoutMs?: number
  /** How often a call is sent again at most; 3 where it is left out. */
  readonly retries?: number
  /** In place of the platform's, as `overSocket(path)` of `coffer/client/socket`. */
  readonly fetch?: Fetch
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

/** @throws TypeError for an address or a key that can be none */
export function createClient(options: ClientOptions) {
  const { timeoutMs = attemptMsDefault, retries = retriesDefault } = options
  const ask = makeAsk({
    address: addressOf(options.address),
    key: keyOf(options.key),
    fetch: options.fetch ?? ((url, init) => fetch(url, init)),
    timeoutMs,
    retries,
    random,
    sleep,
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

export type Client = ReturnType<typeof createClient>
