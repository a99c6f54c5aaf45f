/**
 * Card fields for the page of a shop, in a frame that the vault serves: typed text never reaches
 * the page.
 *
 *     const card = mountCard('#card', { address: 'https://vault.example', key: publicKey })
 *     const { id } = await card.tokenize()
 * @module
 */
import type { PageNode, PageDocument } from '../dom.ts'
import type { CardToken, Greeting, Styles, TokenRequest } from '../protocol.ts'
import { makeCalls } from './calls.ts'
import { refuse } from './error.ts'
import { openFrame } from './frame.ts'
import { makeLife } from './life.ts'
import {
  addressOf,
  assertKnown,
  keySource,
  localeOf,
  schemeOf,
  timeoutOf,
  type CardOptions,
} from './options.ts'
import { followScheme, type ColorSchemeOption } from './scheme.ts'

export { ElementsError } from './error.ts'
export type { CardOptions } from './options.ts'
export type { ColorSchemeOption } from './scheme.ts'
export type {
  Brand,
  CardState,
  CardToken,
  ElementsErrorCode,
  Fault,
  FieldName,
  Labels,
  MaskedCard,
  Style,
  StylePlace,
  StyleProperty,
  Styles,
  TokenRequest,
} from '../protocol.ts'

declare const document: PageDocument
declare const location: { readonly origin: string }

/** An element of the page. */
type Element = Pick<PageNode, 'append'>

/** Looks that may change at any time; members that are left out stay. */
export interface LookChange {
  readonly styles?: Styles
  readonly colorScheme?: ColorSchemeOption
}

export interface CardElement {
  /** Rejects if the fields cannot be shown. */
  readonly ready: Promise<void>
  /** While a token is being made, returns the same promise. */
  readonly tokenize: (request?: TokenRequest) => Promise<CardToken>
  readonly focus: () => void
  readonly clear: () => void
  /** @throws ElementsError `invalid_options`; wrong styles end the fields, as at their beginning */
  readonly update: (change: LookChange) => void
  readonly destroy: () => void
}

function findElement(selector: string): Element | null {
  try {
    return document.querySelector(selector)
  } catch {
    return null
  }
}

/** @throws ElementsError */
function targetOf(target: unknown): PageNode {
  const found = typeof target === 'string' ? findElement(target) : target
  if (typeof (found as Partial<PageNode> | null | undefined)?.append === 'function')
    return found as PageNode
  return refuse('expected an element of this page, or a selector of one')
}

/** @throws ElementsError `invalid_options` */
function settingsOf(options: CardOptions) {
  if (typeof options !== 'object' || options === null) refuse('expected options')
  assertKnown(options)
  return {
    address: addressOf(options.address, location.origin),
    askKey: keySource(options.key),
    timeoutMs: timeoutOf(options.timeoutMs),
    colorScheme: schemeOf(options.colorScheme),
    texts: {
      labels: options.labels ?? {},
      locale: localeOf(options.locale, document.documentElement.lang),
      cardholderName: options.cardholderName === true,
    },
  }
}

/**
 * @param target an element or its selector: the frame is appended to it
 * @throws ElementsError `invalid_options`
 */
export function mountCard(target: string | Element, options: CardOptions): CardElement {
  const { address, askKey, timeoutMs, colorScheme, texts } = settingsOf(options)
  const calls = makeCalls()
  const { ready, heard, fail, end, assertThere } = makeLife(calls, options)
  let styles = options.styles ?? {}
  const look = () => ({ styles, colorScheme: scheme.scheme() })
  const greeting = (): Greeting => {
    scheme.look()
    return { coffer: 'card', ...texts, ...look() }
  }
  const where = { target: targetOf(target), address, timeoutMs, greeting }
  const frame = openFrame(where, { heard, failed: fail })
  const showLook = (): void => {
    frame.element.style.setProperty('color-scheme', scheme.scheme())
    frame.say({ type: 'look', ...look() })
  }
  const scheme = followScheme(frame.element, colorScheme, showLook)
  showLook()
  let underWay: Promise<CardToken> | undefined

  const run = async (request: TokenRequest): Promise<CardToken> => {
    await ready
    const key = await askKey()
    assertThere()
    return calls.make(timeoutMs, call =>
      frame.say({ type: 'tokenize', call, key, request, timeoutMs }),
    )
  }
  return {
    ready,
    tokenize: (request = {}) =>
      (underWay ??= run(request).finally(() => {
        underWay = undefined
      })),
    focus: frame.focus,
    clear: () => frame.say({ type: 'clear' }),
    update(change) {
      if (change.colorScheme !== undefined) scheme.set(schemeOf(change.colorScheme))
      if (change.styles === undefined) return
      const before = styles
      try {
        styles = change.styles
        showLook()
      } catch {
        styles = before
        refuse('expected texts as styles')
      }
    },
    destroy() {
      scheme.end()
      end()
      frame.remove()
    },
  }
}
