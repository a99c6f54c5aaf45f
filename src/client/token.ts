/**
 * Shapes of tokens in a program: the type of a token determines its data.
 * @module
 */
import type {
  BankData,
  CardData,
  CreateTokenRequest,
  LesserTransform,
  Token as AnyToken,
  TokenPage,
  TokenType,
  UpdateTokenRequest,
} from './interface.ts'

/** Data of a `name` and an `address`: a text, or texts by name, as `{ first, last }`. */
export type TextData = string | Readonly<Record<string, string | null>>

/**
 * Data of a token of that type; any JSON for a `token`.
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
  /** Masked or revealed by the rules of the key; absent if that shows nothing. */
  readonly data?: Data
}

type ByType = { readonly [Type in TokenType]: Shown<Type, DataOf<Type>> }

/**
 * A token in an answer. `Token<'card'>` has a `CardData`, `Token<string>` a text, and a plain
 * `Token` narrows by its `type`. Your own mask may show another shape: name that one. Nothing
 * checks it.
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
 * A new token. Its `type` determines its `data`; other members of a card or a bank are kept.
 * @example
 * const card: NewToken = { type: 'card', data: { number: '4242424242424242' } }
 */
export type NewToken<Type extends TokenType = TokenType> = Type extends TokenType
  ? NewTokenOf<Type>
  : never

/** Changes to a token; `null` in `metadata` drops a pair. */
export type TokenChanges = UpdateTokenRequest

/** The token that a new one becomes. With its own mask it shows any shape. */
export type Made<New> = New extends { readonly mask: unknown; readonly type: infer Type }
  ? Shown<Type, unknown>
  : New extends { readonly type: infer Type extends TokenType }
    ? Token<Type>
    : Token

/** Asks for less than the key is shown. */
export interface LessShown {
  /** At most that is shown: the lesser of it and what the rules of the key give. */
  readonly transform?: LesserTransform
}

/** Any value of a list may match, all pairs of the metadata must. */
export interface TokenFilter<Type extends TokenType = TokenType> extends LessShown {
  readonly id?: readonly string[]
  readonly type?: readonly Type[]
  /** With everything below it. */
  readonly container?: readonly string[]
  readonly fingerprint?: readonly string[]
  readonly metadata?: Readonly<Record<string, string>>
}

/** Bounds of a walk over a list or a search. */
export interface WalkChoice {
  /** Items per request, 1 to 100; default: 100. */
  readonly size?: number | undefined
  /** Items after which the walk ends, 1 or more; default: none. */
  readonly limit?: number | undefined
}

/** Choice of a single page. */
export interface PageChoice {
  /** From 1 on. */
  readonly page?: number
  /** 1 to 100; default: 20. */
  readonly size?: number
}

/** One page, with the exact total that the key may see. */
export interface Page<Of = TokenType> {
  readonly pagination: TokenPage
  readonly data: readonly Token<Of>[]
}
