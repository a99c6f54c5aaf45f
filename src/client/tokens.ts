/**
 * Operations on tokens.
 * @module
 */
import { pageSizeMax } from './limits.ts'
import type {
  CreateTokenRequest,
  Token as AnyToken,
  TokenizedInPart,
  TokenPage,
  TokenWalk,
  UpdateTokenRequest,
} from './interface.ts'
import { below, withQuery } from './paths.ts'
import type { Ask } from './ask.ts'
import { walkStretches } from './walk.ts'
import type { CallOptions } from './wire.ts'

/** @typeParam Data  what the caller knows of it; nothing checks that */
export type Token<Data = unknown> = Omit<AnyToken, 'data'> & { readonly data?: Data }

/** `null` drops a pair on update. */
type Metadata = Readonly<Record<string, string | null>>

export type NewToken = Omit<CreateTokenRequest, 'metadata'> & {
  readonly metadata?: Metadata | null
}
export type TokenChanges = Omit<UpdateTokenRequest, 'metadata'> & {
  readonly metadata?: Metadata | null
}

/** Any of the values of a list will do, all pairs of the metadata must match. */
export interface TokenFilter {
  readonly id?: readonly string[]
  readonly type?: readonly string[]
  /** With all that is below it. */
  readonly container?: readonly string[]
  readonly fingerprint?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
}

export interface PageChoice {
  /** From 1 on. */
  readonly page?: number
  /** 1 to 100. */
  readonly size?: number
}

export interface Page<Data = unknown> {
  readonly pagination: TokenPage
  readonly data: readonly Token<Data>[]
}

type Walked<Data> = TokenWalk & { readonly data: readonly Token<Data>[] }

export const tokenOperations = (ask: Ask) => ({
  create: <Data = unknown>(token: NewToken, options?: CallOptions): Promise<Token<Data>> =>
    ask.keeping('POST', '/tokens', token, options),

  get: <Data = unknown>(id: string, options?: CallOptions): Promise<Token<Data>> =>
    ask.plain('GET', below('/tokens', id), undefined, options),

  /** `data`, `mask` and `metadata` are merged (RFC 7386), all else is replaced. */
  update: <Data = unknown>(
    id: string,
    changes: TokenChanges,
    options?: CallOptions,
  ): Promise<Token<Data>> => ask.keeping('PATCH', below('/tokens', id), changes, options),

  delete: (id: string, options?: CallOptions): Promise<void> =>
    ask.plain('DELETE', below('/tokens', id), undefined, options),

  /** Every token that the filter leaves, newest first. */
  list: <Data = unknown>(filter: TokenFilter = {}, options?: CallOptions) =>
    walkStretches<Token<Data>>(start =>
      ask.plain<Walked<Data>>(
        'GET',
        withQuery('/v2/tokens', { ...filter, size: pageSizeMax, start }),
        undefined,
        options,
      ),
    ),

  /** One page, with the exact total. */
  listPage: <Data = unknown>(
    filter: TokenFilter & PageChoice = {},
    options?: CallOptions,
  ): Promise<Page<Data>> =>
    ask.plain('GET', withQuery('/tokens', { ...filter }), undefined, options),

  /** Every token that is found, newest first. @param query as `type:card AND metadata.order:17` */
  search: <Data = unknown>(query: string, options?: CallOptions) =>
    walkStretches<Token<Data>>(start =>
      ask.plain<Walked<Data>>(
        'POST',
        '/v2/tokens/search',
        { query, size: pageSizeMax, start },
        options,
      ),
    ),

  /** One page of what is found, with the exact total. */
  searchPage: <Data = unknown>(
    search: { readonly query: string } & PageChoice,
    options?: CallOptions,
  ): Promise<Page<Data>> => ask.plain('POST', '/tokens/search', search, options),
})

export const bulkOperations = (ask: Ask) => ({
  /**
   * An object that looks like a new token is answered as its token; every other value becomes a
   * token of the type `token`, and its id takes its place. All of them, or none.
   */
  tokenize: <Tree = unknown>(tree: unknown, options?: CallOptions): Promise<Tree> =>
    ask.keeping('POST', '/tokenize', tree, options),

  /** As `tokenize`, where each is told by itself what became of it. */
  tokenizeEach: (tree: unknown, options?: CallOptions): Promise<TokenizedInPart> =>
    ask.keeping('POST', '/tokenize?mode=partial', tree, options),

  /** Each `{{ id }}` in the tree is replaced by what the token holds, as `token:use` shows it. */
  detokenize: <Values = unknown>(tree: unknown, options?: CallOptions): Promise<Values> =>
    ask.plain('POST', '/detokenize', tree, options),
})
