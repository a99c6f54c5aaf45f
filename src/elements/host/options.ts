/**
 * What a shop's page hands in.
 * @module
 */
import { keyCharsMax, timeoutMsDefault, timeoutMsMax } from '../limits.ts'
import type { CardState, Labels, Styles } from '../protocol.ts'
import { refuse } from './error.ts'

type Key = string | (() => string | Promise<string>)

export interface CardOptions {
  /** Of the vault, as `https://vault.example`, with its base path where it has one. */
  readonly address: string | URL
  /** Of a public application or of a session; asked for each token where it is a function. */
  readonly key: Key
  readonly styles?: Styles
  /** Texts in another language, or other words. */
  readonly labels?: Partial<Labels>
  /** What the frame gets to appear in, and a token to be made in; 15 seconds where left out. */
  readonly timeoutMs?: number
  readonly onChange?: (state: CardState) => void
  readonly onReady?: () => void
  /** Enter was pressed in a field. */
  readonly onSubmit?: () => void
}

/** @throws ElementsError for what is none; its text never holds it */
export function addressOf(address: unknown, pageOrigin: string): URL {
  const text = String(address)
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isHttp = url !== undefined && /^https?:$/.test(url.protocol)
  if (!isHttp || url.username + url.password !== '' || url.search !== '' || url.hash !== '') {
    refuse('expected an address such as https://vault.example or http://127.0.0.1:3333/vault')
  }
  if (url.origin === pageOrigin) {
    refuse('the vault has the origin of this page, whose scripts could read the fields then')
  }
  url.pathname = url.pathname.replace(/\/*$/, '/')
  return url
}

const isKey = (key: unknown): key is string =>
  typeof key === 'string' && key.length <= keyCharsMax && /^[!-~]+$/.test(key)

/** @throws ElementsError */
function keyOf(key: unknown): string {
  if (isKey(key)) return key
  return refuse('expected the key of a public application or a session, such as key_…')
}

/** @throws ElementsError for a key that can be none, unless it is still to be asked for */
export function keySource(key: unknown): () => Promise<string> {
  if (typeof key !== 'function') keyOf(key)
  const ask = (typeof key === 'function' ? key : () => key) as () => unknown
  return async () => keyOf(await ask())
}

/** @throws ElementsError */
export function timeoutOf(timeoutMs: unknown = timeoutMsDefault): number {
  if (typeof timeoutMs === 'number' && timeoutMs > 0 && timeoutMs <= timeoutMsMax) return timeoutMs
  return refuse(`expected timeoutMs of more than 0 and at most ${timeoutMsMax}`)
}
