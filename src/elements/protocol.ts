/**
 * Messages between the shop's page and the frame, over one channel. No message to the page has a
 * member for a digit of the card, or for the name on it.
 * @module
 */
import type { styleProperties } from './frame/properties.ts'

export type FieldName = 'number' | 'expiry' | 'cvc' | 'name'

export type Brand =
  | 'visa'
  | 'mastercard'
  | 'amex'
  | 'diners'
  | 'discover'
  | 'jcb'
  | 'unionpay'
  | 'maestro'
  | 'unknown'

/** `past` is a hint: the vault takes the card all the same. */
export type Fault = 'incomplete' | 'invalid' | 'past'

export interface CardState {
  /** True if a token can be made of the fields: never while the number is being typed. */
  readonly complete: boolean
  /** `unknown` until the number has a length of its brand. */
  readonly brand: Brand
  /** Errors of fields that have been left once. */
  readonly errors: Readonly<Partial<Record<FieldName, Fault>>>
}

export interface Labels {
  /** Language of the texts, such as `de` or `ar`, for pronunciation and direction. */
  readonly language: string
  /** Label of the whole frame, for screen readers. */
  readonly frame: string
  readonly number: string
  readonly expiry: string
  readonly cvc: string
  readonly name: string
  readonly numberPlaceholder: string
  readonly expiryPlaceholder: string
  readonly cvcPlaceholder: string
  readonly namePlaceholder: string
  readonly numberIncomplete: string
  readonly numberInvalid: string
  readonly expiryIncomplete: string
  readonly expiryInvalid: string
  readonly expiryPast: string
  readonly cvcIncomplete: string
  readonly cvcInvalid: string
  readonly nameIncomplete: string
}

export type StylePlace =
  'form' | 'label' | 'input' | 'focus' | 'invalid' | 'placeholder' | 'brand' | 'error'

type CssProperty = (typeof styleProperties)[number]

/** Type `fontSize` for `font-size`. */
type ScriptCase<Name extends string> = Name extends `${infer First}-${infer Rest}`
  ? `${First}${Capitalize<ScriptCase<Rest>>}`
  : Name

/** As CSS writes it, `font-size`, or as scripts do, `fontSize`. */
export type StyleProperty = CssProperty | ScriptCase<CssProperty>

/** Values by CSS property, such as `{ borderRadius: '8px' }`. */
export type Style = Readonly<Partial<Record<StyleProperty, string>>>

export type Styles = Readonly<Partial<Record<StylePlace, Style>>>

export type ColorScheme = 'light' | 'dark'

/** Looks of the fields. */
interface Look {
  readonly styles: Styles
  readonly colorScheme: ColorScheme
}

/** Members of a token that a shop may set beside the card. */
export interface TokenRequest {
  readonly metadata?: Readonly<Record<string, string>>
  readonly containers?: readonly string[]
  readonly expires_at?: string
  readonly deduplicate_token?: boolean
}

/** A card as the vault shows it to the key. */
export interface MaskedCard {
  readonly number?: string
  readonly expiration_month?: number
  readonly expiration_year?: number
}

export interface CardToken {
  readonly id: string
  readonly brand: Brand
  readonly data: MaskedCard
}

export type ElementsErrorCode =
  | 'invalid_options'
  | 'invalid_card'
  | 'invalid_request'
  | 'key_refused'
  | 'origin_not_allowed'
  | 'no_frame'
  | 'unavailable'
  | 'destroyed'

/** An error in the form of a message. */
export interface Failure {
  readonly code: ElementsErrorCode
  readonly message: string
  /** Fields of an invalid card. */
  readonly fields?: readonly FieldName[]
  /** Status of the vault's answer, and the id of the request in its log. */
  readonly status?: number
  readonly traceId?: string
}

/** The one message to the window of the frame; a port comes with it. */
export interface Greeting extends Look {
  readonly coffer: 'card'
  readonly labels: Partial<Labels>
  /** A language tag. */
  readonly locale: string
  readonly cardholderName: boolean
}

export type ToFrame =
  | {
      readonly type: 'tokenize'
      readonly call: number
      readonly key: string
      readonly request: TokenRequest
      readonly timeoutMs: number
    }
  | ({ readonly type: 'look' } & Look)
  | { readonly type: 'focus' }
  | { readonly type: 'clear' }

export type ToPage =
  /** With the name of the frame for screen readers. */
  | { readonly type: 'ready'; readonly height: number; readonly title: string }
  | { readonly type: 'refused'; readonly failure: Failure }
  | { readonly type: 'height'; readonly height: number }
  | { readonly type: 'change'; readonly state: CardState }
  | { readonly type: 'submit' }
  | { readonly type: 'made'; readonly call: number; readonly token: CardToken }
  | { readonly type: 'failed'; readonly call: number; readonly failure: Failure }
