/**
 * What a token is in a program: its data has the shape that its type asks for.
 * @module
 */
import type {
  BankData,
  CardData,
  CreateTokenRequest,
  Token as AnyToken,
  TokenPage,
  TokenType,
  UpdateTokenRequest,
} from './interface.ts'

/** Of a `name` and an `address`: a text, or texts by name, as `{ first, last }`. */
export type TextData = string | Readonly<Record<string, string | null>>

/**
 * What the data of a token of that type is; of a `token` that is any JSON.
 * @typeParam Type  of the token, as `'card'`
 */
export type DataOf<Type extends TokenType> = Type extends 'token'
  ? unknown
  : Type extends 'card'
    ? CardData
    : Type extends 'bank'
      ? BankData
      : Type extends 'name' | 'address'
        ? TextData
        : string

type Shown<Type, Data> = Omit<AnyToken, 'type' | 'data'> & {
  readonly type: Type
  /** Masked or revealed, as the rules of the key say; absent where that is nothing. */
  readonly data?: Data
}

type ByType = { readonly [Type in TokenType]: Shown<Type, DataOf<Type>> }

/**
 * A token as it is answered. `Token<'card'>` has a `CardData`, `Token<string>` what its reader
 * knows of it, and a plain `Token` what its `type` tells once it was looked at. A mask of your own
 * may show another shape: say that one. Nothing checks it.
 *
 * @typeParam Of  a type of token, or the type of its data
 * @example
 * const token: Token = await vault.tokens.get(id)
 * if (token.type === 'card') console.log(token.data?.number)
 */
export type Token<Of = TokenType> = Of extends TokenType ? ByType[Of] : Shown<TokenType, Of>

type NewTokenOf<Type extends TokenType> = Omit<CreateTokenRequest, 'type' | 'data'> & {
  readonly type: Type
  readonly data: DataOf<Type>
}

/**
 * What a token is made of. Its `type` says what its `data` has to be; members beside those of a
 * card or a bank are kept.
 * @example
 * const card: NewToken = { type: 'card', data: { number: '4242424242424242' } }
 */
export type NewToken<Type extends TokenType = TokenType> = Type extends TokenType
  ? NewTokenOf<Type>
  : never

/** What may become another in a token; `null` in `metadata` drops a pair. */
export type TokenChanges = UpdateTokenRequest

/** The token that becomes of what it is made of. With a mask of its own it shows any shape. */
export type Made<New> = New extends { readonly mask: unknown; readonly type: infer Type }
  ? Shown<Type, unknown>
  : New extends { readonly type: infer Type extends TokenType }
    ? Token<Type>
    : Token

/** Any of the values of a list will do, all pairs of the metadata must match. */
export interface TokenFilter<Type extends TokenType = TokenType> {
  readonly id?: readonly string[]
  readonly type?: readonly Type[]
  /** With all that is below it. */
  readonly container?: readonly string[]
  readonly fingerprint?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
}

/** How a list or a search is walked. */
export interface WalkChoice {
  /** How many come with one request, 1 to 100; 100 where it is left out. */
  readonly size?: number | undefined
  /** After how many the walk ends, 1 or more; all of them where it is left out. */
  readonly limit?: number | undefined
}

/** Which page, where one is asked for alone. */
export interface PageChoice {
  /** From 1 on. */
  readonly page?: number
  /** 1 to 100; 20 where it is left out. */
  readonly size?: number
}

/** One page, with the exact total of what the key may see. */
export interface Page<Of = TokenType> {
  readonly pagination: TokenPage
  readonly data: readonly Token<Of>[]
}
