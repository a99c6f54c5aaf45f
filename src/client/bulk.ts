/**
 * Many tokens at once, in any JSON, and references to them.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import { tokenizeChunks, withDatesOf, type EachOptions } from './chunks.ts'
import { dated } from './instants.ts'
import type { TokenizedInPart, TokenType } from './interface.ts'
import { isAny, isResults } from './shapes.ts'
import type { Made } from './token.ts'

/** A type marks an object as a new token. */
type Named = { readonly type: TokenType; readonly data: unknown }

/**
 * The answer of `tokenize` to a tree: a token for each object like a new one, an id for each other
 * text, number and boolean, and all else as it is.
 */
export type Tokenized<Tree> = unknown extends Tree
  ? unknown
  : Tree extends null | undefined
    ? null
    : Tree extends string | number | boolean | Date
      ? string
      : Tree extends Named
        ? Made<Tree>
        : Tree extends { readonly type: string; readonly data: unknown }
          ? string extends Tree['type']
            ? unknown
            : { [Key in keyof Tree]: Tokenized<Tree[Key]> }
          : { [Key in keyof Tree]: Tokenized<Tree[Key]> }

/** Operations on many tokens at once. */
export interface Bulk {
  /**
   * Makes tokens of everything in a tree, or of nothing: an object that looks like a new token is
   * answered as its token; every other value becomes a token of the type `token`, and its id takes
   * its place. At most 1,000 values and 1 MiB.
   *
   * @throws CofferError `invalid_request` with the place of each fault, `forbidden`, `conflict`
   * @example
   * const { name, card } = await vault.tokenize({
   *   name: 'Ada Lovelace',
   *   card: { type: 'card', data: { number: '4242424242424242' } },
   * })
   * card.data?.number // XXXXXXXXXXXX4242, and `name` is an id
   */
  tokenize<const Tree>(tree: Tree, options?: CallOptions): Answer<Tokenized<Tree>>
  tokenize<Result>(tree: unknown, options?: CallOptions): Answer<Result>

  /**
   * As `tokenize`, with a result of its own for each value. A list of any length is sent in chunks,
   * one after the other, each under an idempotency key made of yours and its place: the same list
   * sent again under the same key within 24 hours is stored once, however far the first time came.
   *
   * @returns a result for each value, in order, and those that were refused in `retry`
   * @throws CofferError  the failure of a chunk as a whole; chunks before it are stored
   * @throws TypeError for an invalid chunk size
   * @example
   * const { results, retry } = await vault.tokenizeEach(rows, {
   *   idempotencyKey: 'import-2026-03',
   *   onProgress: ({ done, total }) => console.log(`${done} of ${total}`),
   * })
   */
  tokenizeEach(tree: unknown, options?: EachOptions): Promise<TokenizedInPart>

  /**
   * Replaces each reference in a tree by its token's data, as `token:use` shows it. All of them, or
   * none. At most 1,000 values.
   *
   * @typeParam Values  type of the tree then; nothing checks it
   * @throws CofferError `invalid_request` with the place of each reference that finds nothing
   * @example
   * const { pay } = await vault.detokenize<{ pay: string }>({ pay: ref(id, '$.number') })
   */
  detokenize<Values = unknown>(tree: unknown, options?: CallOptions): Answer<Values>
}

const asItCame = (content: unknown): unknown => content

/** @internal */
export const bulkOperations = (ask: Ask): Bulk => ({
  tokenize: (tree: unknown, options?: CallOptions) =>
    ask.keeping<never>('POST', '/tokenize', tree, options, {
      read: answer => withDatesOf(tree, answer),
      is: isAny,
    }),

  tokenizeEach: (tree, options = {}) => {
    const read = (content: unknown): unknown => {
      for (const { token } of (content as TokenizedInPart).results) dated(token)
      return content
    }
    return tokenizeChunks(tree, options, (chunk, callOptions) =>
      ask.keeping('POST', '/tokenize?mode=partial', chunk, callOptions, { read, is: isResults }),
    )
  },

  detokenize: (tree, options) =>
    ask.plain('POST', '/detokenize', tree, options, { read: asItCame, is: isAny }),
})
