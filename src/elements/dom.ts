/**
 * Types of the browser features that the card fields use. The compiler's own library would also
 * give its globals to the server, which has none of them.
 * @module
 */

interface Style {
  cssText: string
  setProperty(name: string, value: string): void
}

export interface Events {
  addEventListener(name: string, listener: (event: Happening) => void): void
  removeEventListener(name: string, listener: (event: Happening) => void): void
}

/** An event, with the members that our listeners read. */
export interface Happening {
  readonly key: string
  readonly inputType?: string
  readonly isComposing?: boolean
  readonly cancelable?: boolean
  readonly data: unknown
  readonly origin: string
  readonly source: unknown
  readonly ports: readonly MessagePort[]
  preventDefault(): void
}

export interface PageNode extends Events {
  id: string
  textContent: string | null
  hidden: boolean
  readonly style: Style
  readonly offsetHeight: number
  setAttribute(name: string, value: string): void
  readonly parentElement: PageNode | null
  removeAttribute(name: string): void
  append(...nodes: readonly unknown[]): void
  remove(): void
  focus(): void
}

export interface Input extends PageNode {
  value: string
  placeholder: string
  readonly selectionStart: number | null
  readonly selectionEnd: number | null
  scrollLeft: number
  readonly scrollWidth: number
  setRangeText(text: string, start: number, end: number, caret: 'end'): void
  dispatchEvent(event: object): void
  focus(options?: { readonly preventScroll: boolean }): void
  scrollIntoView(options: { readonly block: 'nearest'; readonly inline: 'nearest' }): void
  setSelectionRange(start: number, end: number): void
}

export interface FrameElement extends PageNode {
  src: string
  title: string
  referrerPolicy: string
  readonly contentWindow: Receiver | null
  getRootNode(): { readonly activeElement: unknown }
}

export interface Receiver {
  postMessage(message: unknown, origin: string, ports: readonly MessagePort[]): void
}

export interface StyleRule {
  readonly selectorText?: string
  readonly style: Style
}

export interface PageDocument extends Events {
  readonly documentElement: PageNode & { lang: string; dir: string; readonly dataset: Texts }
  readonly body: PageNode
  readonly activeElement: unknown
  readonly styleSheets: ArrayLike<{ readonly cssRules: ArrayLike<StyleRule> }>
  title: string
  createElement(name: 'iframe'): FrameElement
  getElementById(id: string): Input | null
  querySelector(selector: string): PageNode | null
}

type Texts = Readonly<Record<string, string | undefined>>
