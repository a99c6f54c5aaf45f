/**
 * The card fields as an element, for pages that are written in HTML, and for every framework:
 *
 *     <coffer-card address="https://vault.example" api-key="key_…"></coffer-card>
 *     const { id } = await document.querySelector('coffer-card').tokenize()
 * @module
 */
import type { PageNode } from '../dom.ts'
import {
  ElementsError,
  mountCard,
  type CardElement,
  type CardOptions,
  type CardToken,
  type LookChange,
  type TokenRequest,
} from '../host/index.ts'

export { ElementsError } from '../host/index.ts'

interface HostElement extends PageNode {
  getAttribute(name: string): string | null
  dispatchEvent(event: object): boolean
}

declare const HTMLElement: new () => HostElement
interface Init {
  readonly detail: unknown
  readonly cancelable?: boolean
}

declare const CustomEvent: new (name: string, init: Init) => object
declare function reportError(error: unknown): void
declare const customElements:
  { get(name: string): unknown; define(name: string, of: new () => unknown): void } | undefined

/** Properties that cannot be attributes; each is read when the fields begin. */
interface CardProperties {
  apiKey?: CardOptions['key']
  styles?: NonNullable<CardOptions['styles']>
  labels?: NonNullable<CardOptions['labels']>
  timeoutMs?: number
}

/**
 * `<coffer-card>`. Attributes: `address`, `api-key`, `color-scheme`, `locale`, `cardholder-name`.
 * Events, none of which bubbles: `coffer-ready`, `coffer-change` with the state as its `detail`,
 * `coffer-submit`, and `coffer-error` with an `ElementsError`, which also goes to the console
 * unless the listener calls `preventDefault`.
 */
export interface CofferCard extends CardProperties {
  tokenize(request?: TokenRequest): Promise<CardToken>
  focus(): void
  clear(): void
  update(change: LookChange): void
}

const attributes = ['address', 'api-key', 'color-scheme', 'locale', 'cardholder-name']

function tellError(element: HostElement, error: unknown): void {
  const isTaken = !element.dispatchEvent(
    new CustomEvent('coffer-error', { detail: error, cancelable: true }),
  )
  if (!isTaken) reportError(error)
}

function optionsOf(element: HostElement & CardProperties): CardOptions {
  const attribute = (name: string): string | undefined => element.getAttribute(name) ?? undefined
  const tell = (name: string, detail?: unknown): void => {
    element.dispatchEvent(new CustomEvent(`coffer-${name}`, { detail }))
  }
  const given = {
    styles: element.styles,
    labels: element.labels,
    timeoutMs: element.timeoutMs,
    colorScheme: attribute('color-scheme'),
    locale: attribute('locale'),
  }
  return {
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    address: attribute('address') ?? '',
    key: element.apiKey ?? attribute('api-key') ?? '',
    cardholderName: attribute('cardholder-name') !== undefined,
    onReady: () => tell('ready'),
    onChange: state => tell('change', state),
    onSubmit: () => tell('submit'),
    onError: error => tellError(element, error),
  }
}

const notMounted = () =>
  Promise.reject(new ElementsError({ code: 'destroyed', message: 'no card fields are mounted' }))

/** Made only in browsers: a server may import this file. */
const makeElementClass = () =>
  class extends HTMLElement implements CofferCard {
    static readonly observedAttributes = attributes
    declare apiKey?: CardOptions['key']
    declare styles?: NonNullable<CardOptions['styles']>
    declare labels?: NonNullable<CardOptions['labels']>
    declare timeoutMs?: number
    #card: CardElement | undefined
    #isThere = false
    #isPlanned = false

    connectedCallback(): void {
      this.style.setProperty('display', 'block')
      this.#isThere = true
      this.#plan()
    }

    disconnectedCallback(): void {
      this.#isThere = false
      this.#end()
    }

    attributeChangedCallback(name: string, before: unknown, value: string | null): void {
      if (before === value || !this.#isThere) return
      if (name !== 'color-scheme') this.#plan()
      else this.#attempt(() => this.update({ colorScheme: (value ?? 'auto') as 'auto' }))
    }

    tokenize(request?: TokenRequest): Promise<CardToken> {
      return this.#card?.tokenize(request) ?? notMounted()
    }

    override focus(): void {
      this.#card?.focus()
    }

    clear(): void {
      this.#card?.clear()
    }

    update(change: LookChange): void {
      this.#card?.update(change)
    }

    /** Runs once for all attributes that a script sets together. */
    #plan(): void {
      if (this.#isPlanned) return
      this.#isPlanned = true
      queueMicrotask(() => {
        this.#isPlanned = false
        this.#end()
        if (this.#isThere) this.#attempt(() => (this.#card = mountCard(this, optionsOf(this))))
      })
    }

    #end(): void {
      this.#card?.destroy()
      this.#card = undefined
    }

    #attempt(what: () => unknown): void {
      try {
        what()
      } catch (error) {
        tellError(this, error)
      }
    }
  }

if (typeof customElements !== 'undefined' && customElements.get('coffer-card') === undefined) {
  customElements.define('coffer-card', makeElementClass())
}
