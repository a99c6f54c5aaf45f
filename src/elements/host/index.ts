/**
 * Card fields for the page of a shop, in a frame that the vault serves: what is typed there never
 * is in the page.
 *
 *     const card = mountCard('#card', { address: 'https://vault.example', key: publicKey })
 *     const { id } = await card.tokenize()
 * @module
 */
import type { Node, Page } from '../dom.ts'
import type { CardToken, TokenRequest } from '../protocol.ts'
import { makeCalls } from './calls.ts'
import { refuse } from './error.ts'
import { openFrame } from './frame.ts'
import { makeLife } from './life.ts'
import { addressOf, keySource, timeoutOf, type CardOptions } from './options.ts'

export { ElementsError } from './error.ts'
export type { CardOptions } from './options.ts'
export type {
  Brand,
  CardState,
  CardToken,
  ElementsErrorCode,
  Fault,
  FieldName,
  Labels,
  MaskedCard,
  StylePlace,
  Styles,
  TokenRequest,
} from '../protocol.ts'

declare const document: Page
declare const location: { readonly origin: string }

/** An element of the page. */
type Element = Pick<Node, 'append'>

export interface CardElement {
  /** Fails where there will be no fields. */
  readonly ready: Promise<void>
  /** While one is under way, it is that one. */
  readonly tokenize: (request?: TokenRequest) => Promise<CardToken>
  readonly focus: () => void
  readonly clear: () => void
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
function targetOf(target: unknown): Node {
  const found = typeof target === 'string' ? findElement(target) : target
  if (typeof (found as Partial<Node> | null | undefined)?.append === 'function')
    return found as Node
  return refuse('expected an element of this page, or a selector of one')
}

/**
 * @param target an element, or a selector of one: the frame is put at its end
 * @throws ElementsError `invalid_options`
 */
export function mountCard(target: string | Element, options: CardOptions): CardElement {
  if (typeof options !== 'object' || options === null) refuse('expected options')
  const address = addressOf(options.address, location.origin)
  const askKey = keySource(options.key)
  const timeoutMs = timeoutOf(options.timeoutMs)
  const calls = makeCalls()
  const { ready, heard, fail, end, assertThere } = makeLife(calls, options)
  const greeting = {
    coffer: 'card',
    styles: options.styles ?? {},
    labels: options.labels ?? {},
  } as const
  const frame = openFrame(targetOf(target), address, greeting, timeoutMs, { heard, failed: fail })
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
    destroy() {
      end()
      frame.remove()
    },
  }
}
