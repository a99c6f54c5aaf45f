/**
 * Entry point of the frame: waits for one greeting of the page that holds it, and from then on
 * talks only to that page.
 * @module
 */
import type { Happening, PageDocument, Receiver } from '../dom.ts'
import { messageMsMax } from '../limits.ts'
import type { Failure, ToPage } from '../protocol.ts'
import { elementOf } from './field.ts'
import { hideIds } from './field-ids.ts'
import { makeForm, type Form } from './form.ts'
import { labelsOf } from './labels.ts'
import { elapsedMs, random, randomHex, sleep, today } from './platform.ts'
import { applyStyles, stylesOf } from './styles.ts'
import { makeTokens } from './tokens.ts'

/** A window above the frame; its document is shown to pages of its own origin alone. */
interface Ancestor extends Receiver {
  readonly parent: Ancestor
  readonly document: unknown
}

declare const document: PageDocument
declare const parent: Ancestor
declare const top: Ancestor
declare const location: { readonly origin: string }
declare const window: Pick<PageDocument, 'addEventListener' | 'removeEventListener'>
declare const ResizeObserver: new (then: () => void) => { observe(element: unknown): void }

/** Written into the page by the server, which lets only these origins frame it. */
const allowed = (document.documentElement.dataset['origins'] ?? '').split(' ')

function isReadable(ancestor: Ancestor): boolean {
  try {
    return ancestor.document !== undefined
  } catch {
    return false
  }
}

/** A page of the frame's own origin could read the fields, also from further above. */
function isReadFromAbove(ancestor: Ancestor): boolean {
  return isReadable(ancestor) || (ancestor !== top && isReadFromAbove(ancestor.parent))
}

const isAllowed = (origin: string): boolean =>
  origin !== location.origin &&
  !isReadFromAbove(parent) &&
  (allowed.includes('*') || allowed.includes(origin))

const means = {
  fetch: (url: string, init: RequestInit) => fetch(url, init),
  elapsedMs,
  random,
  randomHex,
  sleep,
  url: new URL('../tokens', import.meta.url).href,
}

const isMessage = (value: unknown): value is object => typeof value === 'object' && value !== null

const invalid = (message = ''): Failure => ({ code: 'invalid_options', message })

/** @returns an error message, and then applies nothing */
function lookAs(given: object): string | undefined {
  const { styles, colorScheme } = given as Readonly<Record<string, unknown>>
  const declarations = stylesOf(styles)
  if (typeof declarations === 'string') return declarations
  if (colorScheme !== 'light' && colorScheme !== 'dark')
    return 'colorScheme: expected light or dark'
  applyStyles(document, declarations)
  document.documentElement.setAttribute('data-scheme', colorScheme)
  return undefined
}

/**
 * The focus of the frame may arrive after the message that asks for it, and would then take the
 * caret from the field that has just got it.
 */
function makeFocus(form: Form): () => void {
  let askedMs = -Infinity
  window.addEventListener('focus', () => {
    if (elapsedMs() - askedMs < messageMsMax) form.focus()
  })
  return () => {
    askedMs = elapsedMs()
    form.focus()
  }
}

function begin(port: MessagePort, greeting: object): Failure | undefined {
  const { labels, locale = 'en', cardholderName } = greeting as Readonly<Record<string, unknown>>
  const texts = labelsOf(labels, locale)
  const fault = typeof texts === 'string' ? texts : lookAs(greeting)
  if (typeof texts === 'string' || fault !== undefined) return invalid(fault)
  const say = (message: ToPage): void => port.postMessage(message)
  if (cardholderName !== true) elementOf(document, 'name-field').remove()
  const form = makeForm(document, texts, today, {
    changed: state => say({ type: 'change', state }),
    entered: () => say({ type: 'submit' }),
  })
  hideIds(document, randomHex)
  const focus = makeFocus(form)
  const tokens = makeTokens(form, means)
  const tokenize = async (message: object): Promise<void> => {
    const call = Number((message as { readonly call?: unknown }).call)
    const made = await tokens.make(message)
    if ('code' in made) say({ type: 'failed', call, failure: made })
    else say({ type: 'made', call, token: made })
  }
  port.addEventListener('message', ({ data }: { readonly data: unknown }) => {
    const message = isMessage(data) ? data : {}
    const { type } = message as { readonly type?: unknown }
    if (type === 'tokenize') void tokenize(message)
    else if (type === 'look') {
      const wrong = lookAs(message)
      if (wrong !== undefined) say({ type: 'refused', failure: invalid(wrong) })
    } else if (type === 'focus') focus()
    else if (type === 'clear') {
      tokens.forget()
      form.clear()
    }
  })
  port.start()
  const main = elementOf(document, 'main')
  say({ type: 'ready', height: main.offsetHeight, title: texts.frame })
  new ResizeObserver(() => say({ type: 'height', height: main.offsetHeight })).observe(main)
  return undefined
}

function meet({ source, origin, ports, data }: Happening): void {
  const [port] = ports
  if (source !== parent || port === undefined || !isMessage(data)) return
  if ((data as { readonly coffer?: unknown }).coffer !== 'card') return
  const failure: Failure | undefined = isAllowed(origin)
    ? begin(port, data)
    : { code: 'origin_not_allowed', message: 'the vault is not for pages of this origin' }
  if (failure === undefined) window.removeEventListener('message', meet)
  else port.postMessage({ type: 'refused', failure } satisfies ToPage)
}

window.addEventListener('message', meet)
