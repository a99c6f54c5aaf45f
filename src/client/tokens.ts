/**
 * Operations on tokens.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import { deleteAll, type Deleted } from './deletions.ts'
import { CofferError } from './error.ts'
import type { ContainerList, TokenType } from './interface.ts'
import { pageSizeMax } from './limits.ts'
import { below, withQuery } from './paths.ts'
import type {
  LessShown,
  Made,
  NewToken,
  Page,
  PageChoice,
  Token,
  TokenChanges,
  TokenFilter,
  WalkChoice,
} from './token.ts'
import { isNothing, isToken, isTokenList } from './shapes.ts'
import { stretches, walkStretches } from './walk.ts'

/** A query, and bounds of its walk. */
export interface Search extends WalkChoice, LessShown {
  /** As `type:card AND metadata.order:17`; `*` finds all. */
  readonly query: string
}

/** Options of a read. */
export interface ReadOptions extends CallOptions, LessShown {}

/**
 * Operations on tokens. Each fails with a `CofferError` that tells the reason, or with a
 * `TypeError` before anything is sent if an argument is invalid.
 */
export interface Tokens {
  /**
   * Stores data as a token, once however often it is sent.
   *
   * @returns it as its mask shows it
   * @throws CofferError `invalid_request`, `forbidden`, `conflict` if its id is taken
   * @example
   * const { id, data } = await vault.tokens.create({
   *   type: 'card',
   *   data: { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 },
   *   expires_at: new Date('2031-01-01'),
   * })
   * data?.number // XXXXXXXXXXXX4242
   */
  create<const New extends NewToken>(token: New, options?: CallOptions): Answer<Made<New>>
  create<Data>(token: NewToken, options?: CallOptions): Answer<Token<Data>>

  /**
   * Reads a token as the rules of the key show it.
   *
   * @typeParam Of  its type, or the type of its data; nothing checks it
   * @throws CofferError `not_found` if it is absent, expired, or not for this key
   * @example
   * const card = await vault.tokens.get<'card'>(id)
   * card.data?.number // 4242424242424242
   * const seen = await vault.tokens.get<'card'>(id, { transform: 'mask', reason: 'Case 17' })
   * seen.data?.number // XXXXXXXXXXXX4242
   */
  get<Of = TokenType>(id: string, options?: ReadOptions): Answer<Token<Of>>

  /**
   * True if there is such a token that this key may read.
   *
   * @throws CofferError  all but `not_found`
   * @example
   * if (await vault.tokens.exists('order-17')) console.log('was stored before')
   */
  exists(id: string, options?: CallOptions): Promise<boolean>

  /**
   * Changes a token: `data`, `mask` and `metadata` are merged (RFC 7386), all else is replaced.
   *
   * @returns it as its mask shows it
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`
   * @example
   * await vault.tokens.update(id, { metadata: { order: '18', draft: null } })
   */
  update<Of = TokenType>(
    id: string,
    changes: TokenChanges,
    options?: CallOptions,
  ): Answer<Token<Of>>

  /**
   * Deletes a token. One that is not found when a lost attempt is repeated counts as deleted.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * await vault.tokens.delete(id)
   */
  delete(id: string, options?: CallOptions): Answer<void>

  /**
   * Deletes tokens by their ids, eight at a time. Call it again after a failure: tokens that are
   * gone count as missing.
   *
   * @throws CofferError  the first failure but `not_found`; deleted tokens stay deleted
   * @example
   * const { deleted, missing } = await vault.tokens.deleteMany(ids)
   */
  deleteMany(ids: Iterable<string>, options?: CallOptions): Promise<Deleted>

  /**
   * Deletes every token that a search finds. Ask `searchPage` for their total first.
   *
   * @param query  as `metadata.customer:17`; `*` for all tokens of the key. Insert a text from
   *   elsewhere with `JSON.stringify`: as it stands it could match more
   * @throws CofferError `invalid_request` for an invalid query, `forbidden`; deleted tokens stay
   *   deleted
   * @throws TypeError for an empty query
   * @example
   * const query = `metadata.customer:${JSON.stringify(customer)}`
   * const { deleted } = await vault.tokens.deleteWhere(query)
   */
  deleteWhere(query: string, options?: CallOptions): Promise<Deleted>

  /**
   * Every token that matches, newest first, for as long as the loop asks. Tokens stored or deleted
   * meanwhile move nothing.
   *
   * @throws CofferError (each step) `invalid_request`, `forbidden`
   * @throws TypeError (the first step) for an invalid `size` or `limit`
   * @example
   * for await (const { id, data } of vault.tokens.list({ type: ['card'], limit: 10 })) {
   *   console.log(id, data?.number)
   * }
   */
  list<const Type extends TokenType = TokenType>(
    filter?: TokenFilter<Type> & WalkChoice,
    options?: CallOptions,
  ): AsyncGenerator<Token<Type>, void>
  list<Data>(
    filter?: TokenFilter & WalkChoice,
    options?: CallOptions,
  ): AsyncGenerator<Token<Data>, void>

  /**
   * One page of a list, with the exact total.
   *
   * @throws CofferError `invalid_request`, `forbidden`
   * @example
   * const { pagination } = await vault.tokens.listPage({ type: ['card'], page: 1, size: 1 })
   * pagination.total_items // 3
   */
  listPage<const Type extends TokenType = TokenType>(
    filter?: TokenFilter<Type> & PageChoice,
    options?: CallOptions,
  ): Answer<Page<Type>>
  listPage<Data>(filter?: TokenFilter & PageChoice, options?: CallOptions): Answer<Page<Data>>

  /**
   * Every token found, newest first, for as long as the loop asks.
   *
   * @param search  a query as `type:card AND metadata.order:17`, or one with `size` and `limit`
   * @throws CofferError (each step) `invalid_request` for an invalid query, `forbidden`,
   *   `too_many_requests`
   * @example
   * for await (const { id } of vault.tokens.search({ query: 'data:4242', limit: 5 })) use(id)
   */
  search<Of = TokenType>(
    search: string | Search,
    options?: CallOptions,
  ): AsyncGenerator<Token<Of>, void>

  /**
   * One page of the tokens found, with the exact total.
   *
   * @throws CofferError `invalid_request` for an invalid query, `forbidden`
   * @example
   * const found = await vault.tokens.searchPage({ query: 'metadata.customer:17', size: 1 })
   * found.pagination.total_items // 12
   */
  searchPage<Of = TokenType>(
    search: { readonly query: string } & PageChoice & LessShown,
    options?: CallOptions,
  ): Answer<Page<Of>>

  /**
   * The containers one step below another, of the tokens that this key may read.
   *
   * @param below  a container; default: `/`
   * @throws CofferError `invalid_request`, `forbidden`
   * @example
   * const { below } = await vault.tokens.containers('/pci/')
   * for (const { container, tokens } of below) console.log(container, tokens)
   */
  containers(below?: string, options?: CallOptions): Answer<ContainerList>
}

const token = { is: isToken }
const tokenList = { is: isTokenList }
const nothing = { is: isNothing }

const searchPath = '/v2/tokens/search'

/** @throws TypeError: an empty query would find all in some versions of the vault */
function assertQuery(query: string): void {
  if (typeof query === 'string' && query.trim() !== '') return
  throw new TypeError('query: expected a text such as metadata.customer:17; * finds all tokens')
}

type Reading = Pick<
  Tokens,
  'get' | 'exists' | 'list' | 'listPage' | 'search' | 'searchPage' | 'containers'
>

const reading = (ask: Ask): Reading => ({
  get: (id, { transform, ...options } = {}) =>
    ask.plain('GET', withQuery(below('/tokens', id), { transform }), undefined, options, token),
  exists: async (id, options) => {
    try {
      await ask.plain('GET', below('/tokens', id), undefined, options, token)
      return true
    } catch (thrown) {
      if (thrown instanceof CofferError && thrown.code === 'not_found') return false
      throw thrown
    }
  },
  list: ({ size, limit, ...filter }: TokenFilter & WalkChoice = {}, options?: CallOptions) =>
    walkStretches<never>({ size, limit }, (start, stretch) => {
      const path = withQuery('/v2/tokens', { ...filter, size: stretch, start })
      return ask.plain('GET', path, undefined, options, tokenList)
    }),
  listPage: (filter: TokenFilter & PageChoice = {}, options?: CallOptions) =>
    ask.plain<never>('GET', withQuery('/tokens', { ...filter }), undefined, options, tokenList),
  search: (search, options) => {
    const { size, limit, ...asked } = typeof search === 'object' ? search : { query: search }
    return walkStretches<never>({ size, limit }, (start, stretch) =>
      ask.plain('POST', searchPath, { ...asked, size: stretch, start }, options, tokenList),
    )
  },
  searchPage: (search, options) => ask.plain('POST', '/tokens/search', search, options, tokenList),
  containers: (outer, options) =>
    ask.plain('GET', withQuery('/containers', { below: outer }), undefined, options),
})

type Writing = Omit<Tokens, keyof Reading>

const writing = (ask: Ask): Writing => {
  const remove = (id: string, options?: CallOptions): Answer<void> =>
    ask.plain('DELETE', below('/tokens', id), undefined, options, nothing)
  return {
    create: (made: NewToken, options?: CallOptions) =>
      ask.keeping<never>('POST', '/tokens', made, options, token),
    update: (id, changes, options) =>
      ask.keeping('PATCH', below('/tokens', id), changes, options, token),
    delete: remove,
    deleteMany: async (ids, options = {}) => {
      // Each character of a text would be an id.
      if (typeof ids === 'string') throw new TypeError('deleteMany: expected a list of ids')
      return deleteAll(remove, ids, options)
    },
    deleteWhere: async (query, options = {}) => {
      assertQuery(query)
      const sum = { deleted: 0, missing: 0 }
      const found = stretches<Token>(start =>
        ask.plain('POST', searchPath, { query, size: pageSizeMax, start }, options, tokenList),
      )
      for await (const tokens of found) {
        const { deleted, missing } = await deleteAll(
          remove,
          tokens.map(({ id }) => id),
          options,
        )
        sum.deleted += deleted
        sum.missing += missing
      }
      return sum
    },
  }
}

/** @internal */
export const tokenOperations = (ask: Ask): Tokens => ({ ...reading(ask), ...writing(ask) })
