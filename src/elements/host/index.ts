/**
 * Card fields for the page of a shop, in a frame that the vault serves: what is typed there never
 * is in the page.
 *
 *     const card = mountCard('#card', { address: 'https://vault.example', key: publicKey })
 *     const { id } = await card.tokenize()
 * @module
 */
import type { Node, Page } from '../dom.ts'
import type { CardState, CardToken, Failure, TokenRequest, ToPage } from '../protocol.ts'
import { makeCalls } from './calls.ts'
import { ElementsError, refuse } from './error.ts'
import { openFrame } from './frame.ts'
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

const destroyed: Failure = { code: 'destroyed', message: 'the card fields were destroyed' }
const reloaded: Failure = { code: 'no_frame', message: 'the page has moved the frame meanwhile' }
const empty: CardState = { complete: false, brand: 'unknown', errors: {} }

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
  const { styles = {}, labels = {}, onReady, onChange, onSubmit } = options
  const address = addressOf(options.address, location.origin)
  const askKey = keySource(options.key)
  const timeoutMs = timeoutOf(options.timeoutMs)
  const calls = makeCalls()
  const readiness = Promise.withResolvers<void>()
  let failure: Failure | undefined
  let isReady = false
  let underWay: Promise<CardToken> | undefined

  const fail = (what: Failure): void => {
    failure ??= what
    readiness.reject(new ElementsError(failure))
    calls.fail(failure)
  }
  const begin = (): void => {
    readiness.resolve()
    if (!isReady) return onReadyOnce()
    // The fields are empty again.
    calls.fail(reloaded)
    onChange?.(empty)
  }
  const onReadyOnce = (): void => {
    isReady = true
    onReady?.()
  }
  const heard = (message: ToPage): void => {
    if (failure !== undefined) return
    if (message.type === 'ready') begin()
    else if (message.type === 'refused') fail(message.failure)
    else if (message.type === 'change') onChange?.(message.state)
    else if (message.type === 'submit') onSubmit?.()
    else calls.heard(message)
  }
  const title = typeof labels.frame === 'string' ? labels.frame : 'Card details'
  const greeting = { coffer: 'card', styles, labels, title } as const
  const frame = openFrame(targetOf(target), address, greeting, timeoutMs, { heard, failed: fail })

  const run = async (request: TokenRequest): Promise<CardToken> => {
    await readiness.promise
    const key = await askKey()
    if (failure !== undefined) throw new ElementsError(failure)
    return calls.make(timeoutMs, call =>
      frame.say({ type: 'tokenize', call, key, request, timeoutMs }),
    )
  }
  return {
    ready: readiness.promise,
    tokenize: (request = {}) =>
      (underWay ??= run(request).finally(() => {
        underWay = undefined
      })),
    focus: frame.focus,
    clear: () => frame.say({ type: 'clear' }),
    destroy() {
      // Whoever took the fields away waits for them no more.
      readiness.promise.catch(() => {})
      fail(destroyed)
      frame.remove()
    },
  }
}
