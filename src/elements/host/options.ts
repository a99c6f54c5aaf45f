/**
 * Options from the page of a shop.
 * @module
 */
import {
  keyCharsMax,
  languageCharsMax,
  nameCharsShownMax,
  timeoutMsDefault,
  timeoutMsMax,
} from '../limits.ts'
import type { CardState, Labels, Styles } from '../protocol.ts'
import { refuse, type ElementsError } from './error.ts'
import type { ColorSchemeOption } from './scheme.ts'

type Key = string | (() => string | Promise<string>)

export interface CardOptions {
  /** Address of the vault, as `https://vault.example`, with any base path. */
  readonly address: string | URL
  /** Key of a public application or of a session; a function is called for each token. */
  readonly key: Key
  readonly styles?: Styles
  /** Scheme of the page around the fields; `auto`, the default, detects it. */
  readonly colorScheme?: ColorSchemeOption
  /**
   * Language of the texts, as `de` or `fr-CA`: English, German, French, Spanish or Japanese.
   * Default: the language of the page, or English if there are no texts in it.
   */
  readonly locale?: string
  /** Other words, or another language. */
  readonly labels?: Partial<Labels>
  /** If true, the name on the card is requested as well. */
  readonly cardholderName?: boolean
  /** Time for the frame to appear, and for a token to be made; default: 15 seconds. */
  readonly timeoutMs?: number
  readonly onChange?: (state: CardState) => void
  readonly onReady?: () => void
  /** Enter was pressed in a field. */
  readonly onSubmit?: () => void
  /** The fields failed to appear, or ended; `ready` rejects as well. */
  readonly onError?: (error: ElementsError) => void
}

/** @throws ElementsError for an invalid address, without repeating it */
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

/** @throws ElementsError for an impossible key; a function is called later */
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

/** @throws ElementsError */
export function schemeOf(option: unknown = 'auto'): ColorSchemeOption {
  if (option === 'light' || option === 'dark' || option === 'auto') return option
  return refuse("colorScheme: expected 'light', 'dark' or 'auto'")
}

const isLanguage = (tag: unknown): tag is string =>
  typeof tag === 'string' && tag.length <= languageCharsMax && /^[a-z]+(?:-[a-z0-9]+)*$/i.test(tag)

/**
 * @param pageLanguage declared by the page, which may be anything
 * @throws ElementsError
 */
export function localeOf(option: unknown, pageLanguage: string): string {
  if (option === undefined) return isLanguage(pageLanguage) ? pageLanguage : 'en'
  return isLanguage(option) ? option : refuse('locale: expected a language, such as de or fr-CA')
}

const names: Readonly<Record<keyof CardOptions, true>> = {
  address: true,
  key: true,
  styles: true,
  colorScheme: true,
  locale: true,
  labels: true,
  cardholderName: true,
  timeoutMs: true,
  onChange: true,
  onReady: true,
  onSubmit: true,
  onError: true,
}

/** @throws ElementsError for an unknown option, which would be ignored in silence */
export function assertKnown(options: object): void {
  const other = Object.keys(options).find(name => !Object.hasOwn(names, name))
  if (other === undefined) return
  const expected = Object.keys(names).join(', ')
  refuse(`unknown option ${other.slice(0, nameCharsShownMax)}: expected ${expected}`)
}
