/**
 * What the shop's page and the frame say to each other, over one channel. No message to the page
 * has a member for a digit of the card.
 * @module
 */

export type FieldName = 'number' | 'expiry' | 'cvc'

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

/** `past` is a hint: it keeps no card from the vault. */
export type Fault = 'incomplete' | 'invalid' | 'past'

export interface CardState {
  /** Whether a token can be made of what is there: never of a number that is being typed. */
  readonly complete: boolean
  /** `unknown` until the number has a length of its brand. */
  readonly brand: Brand
  /** Of the fields that were left once. */
  readonly errors: Readonly<Partial<Record<FieldName, Fault>>>
}

export interface Labels {
  /** Of the texts, such as `de` or `ar`; says how they are read out, and from which side. */
  readonly language: string
  /** Of the frame as a whole, for screen readers. */
  readonly frame: string
  readonly number: string
  readonly expiry: string
  readonly cvc: string
  readonly numberPlaceholder: string
  readonly expiryPlaceholder: string
  readonly cvcPlaceholder: string
  readonly numberIncomplete: string
  readonly numberInvalid: string
  readonly expiryIncomplete: string
  readonly expiryInvalid: string
  readonly expiryPast: string
  readonly cvcIncomplete: string
  readonly cvcInvalid: string
}

export type StylePlace =
  'form' | 'label' | 'input' | 'focus' | 'invalid' | 'placeholder' | 'brand' | 'error'

/** Properties of CSS to their values, such as `{ 'border-radius': '8px' }`. */
export type Styles = Readonly<Partial<Record<StylePlace, Readonly<Record<string, string>>>>>

/** What a shop may say of a token beside the card. */
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

/** What went wrong, as it travels. */
export interface Failure {
  readonly code: ElementsErrorCode
  readonly message: string
  /** Of an invalid card. */
  readonly fields?: readonly FieldName[]
  /** What the vault answered, and under which id its log has the request. */
  readonly status?: number
  readonly traceId?: string
}

/** The one message to the window of the frame; a port comes with it. */
export interface Greeting {
  readonly coffer: 'card'
  readonly styles: Styles
  readonly labels: Partial<Labels>
}

export type ToFrame =
  | {
      readonly type: 'tokenize'
      readonly call: number
      readonly key: string
      readonly request: TokenRequest
      readonly timeoutMs: number
    }
  | { readonly type: 'focus' }
  | { readonly type: 'clear' }

export type ToPage =
  | { readonly type: 'ready'; readonly height: number }
  | { readonly type: 'refused'; readonly failure: Failure }
  | { readonly type: 'height'; readonly height: number }
  | { readonly type: 'change'; readonly state: CardState }
  | { readonly type: 'submit' }
  | { readonly type: 'made'; readonly call: number; readonly token: CardToken }
  | { readonly type: 'failed'; readonly call: number; readonly failure: Failure }
