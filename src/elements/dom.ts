/**
 * As much of a browser as the card fields use, as types: the library of the compiler would give its
 * globals to the server as well, which has none of them.
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

/** An event, with what those have that are listened to. */
export interface Happening {
  readonly key: string
  readonly inputType?: string
  readonly isComposing?: boolean
  readonly data: unknown
  readonly origin: string
  readonly source: unknown
  readonly ports: readonly MessagePort[]
  preventDefault(): void
}

export interface Node extends Events {
  textContent: string | null
  hidden: boolean
  readonly style: Style
  readonly offsetHeight: number
  setAttribute(name: string, value: string): void
  readonly parentElement: Node | null
  removeAttribute(name: string): void
  append(...nodes: readonly unknown[]): void
  remove(): void
  focus(): void
}

export interface Input extends Node {
  value: string
  placeholder: string
  readonly selectionStart: number | null
  setSelectionRange(start: number, end: number): void
}

export interface Frame extends Node {
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

export interface Page extends Events {
  readonly documentElement: Node & { lang: string; dir: string; readonly dataset: Texts }
  readonly body: Node
  readonly activeElement: unknown
  readonly styleSheets: ArrayLike<{ readonly cssRules: ArrayLike<StyleRule> }>
  title: string
  createElement(name: 'iframe'): Frame
  getElementById(id: string): Input | null
  querySelector(selector: string): Node | null
}

type Texts = Readonly<Record<string, string | undefined>>
