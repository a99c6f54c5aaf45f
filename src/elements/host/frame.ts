/**
 * The frame in the page, and the one channel to its document.
 * @module
 */
import type { FrameElement, PageNode, PageDocument } from '../dom.ts'
import { frameBeginsMsMax, frameEdgePx, frameHeightPxFirst, frameHeightPxMax } from '../limits.ts'
import type { ElementsErrorCode, Failure, Greeting, ToFrame, ToPage } from '../protocol.ts'

declare const document: PageDocument

export interface FrameEvents {
  readonly heard: (message: ToPage) => void
  /** The frame is not a vault's, or refuses this page. */
  readonly failed: (failure: Failure) => void
}

export interface CardFrame {
  readonly element: FrameElement
  readonly say: (message: ToFrame) => void
  readonly focus: () => void
  readonly remove: () => void
}

const failureOf = (code: ElementsErrorCode, message: string): Failure => ({ code, message })

/** A blank frame gives no reason, so the message names all that are possible. */
const noFrame = (address: URL): Failure =>
  failureOf(
    'no_frame',
    `no card fields came from ${address.href}: the address is wrong, the vault is closed, or the ` +
      'content security policy of this page lacks the origin of the vault in frame-src ' +
      '(and in connect-src, to learn more)',
  )

/** Asks the vault if it allows pages of this origin; for others the frame stays blank. */
async function diagnose(address: URL): Promise<Failure> {
  try {
    const { href } = new URL('elements/origin', address)
    const signal = AbortSignal.timeout(frameBeginsMsMax)
    const answer = await fetch(href, { credentials: 'omit', referrerPolicy: 'no-referrer', signal })
    const { allowed } = (await answer.json()) as { readonly allowed?: unknown }
    if (allowed !== false) return noFrame(address)
    const message = 'the vault is not for pages of this origin: its setting cors-origins says which'
    return failureOf('origin_not_allowed', message)
  } catch {
    return noFrame(address)
  }
}

function makeElement(address: URL): FrameElement {
  const element = document.createElement('iframe')
  element.referrerPolicy = 'no-referrer'
  const look = {
    display: 'block',
    // Hidden until the fields are there, so that no error page of the browser shows.
    visibility: 'hidden',
    border: '0',
    margin: `-${frameEdgePx}px`,
    width: `calc(100% + ${2 * frameEdgePx}px)`,
    height: `${frameHeightPxFirst}px`,
  }
  for (const [name, value] of Object.entries(look)) element.style.setProperty(name, value)
  element.src = new URL('elements/card', address).href
  return element
}

/** Hides the frame without fields, which would show a page of the browser's own. */
const hide = (element: FrameElement): void => element.style.setProperty('display', 'none')

/** Applies the frame's messages to its element. */
function show(element: FrameElement, message: ToPage): void {
  const { style } = element
  if (message.type === 'refused') hide(element)
  if (message.type !== 'ready' && message.type !== 'height') return
  const { height } = message
  if (height >= 0 && height <= frameHeightPxMax) style.setProperty('height', `${height}px`)
  if (message.type === 'ready') {
    style.setProperty('visibility', 'visible')
    element.title = message.title
  }
}

/**
 * Greets the document in the frame; only the vault's origin receives it.
 * @returns our end of the channel; `undefined` for styles or labels that no message can hold
 */
function greet(
  element: FrameElement,
  { origin }: URL,
  greeting: Greeting,
): MessagePort | undefined {
  const { port1, port2 } = new MessageChannel()
  try {
    element.contentWindow?.postMessage(greeting, origin, [port2])
    return port1
  } catch {
    return undefined
  }
}

const noTexts = failureOf('invalid_options', 'mountCard: expected texts as styles and labels')

export interface FrameOptions {
  readonly target: PageNode
  /** With a slash at its end. */
  readonly address: URL
  readonly timeoutMs: number
  /** Read at each greeting: the frame is greeted again after the page moves it. */
  readonly greeting: () => Greeting
}

/** @returns the frame, which begins to load */
export function openFrame(
  { target, address, timeoutMs, greeting }: FrameOptions,
  events: FrameEvents,
): CardFrame {
  const element = makeElement(address)
  let port: MessagePort | undefined
  let isThere = false
  const failed = (failure: Failure): void => {
    hide(element)
    events.failed(failure)
  }
  const fail = async (): Promise<void> => {
    const failure = await diagnose(address)
    // The fields may have come meanwhile.
    if (!isThere) failed(failure)
  }
  let timer = setTimeout(fail, timeoutMs)
  const hear = ({ data }: { readonly data: ToPage }): void => {
    if (data.type === 'ready' || data.type === 'refused') {
      isThere = true
      clearTimeout(timer)
    }
    show(element, data)
    events.heard(data)
  }
  // Also runs after the page moves the frame, which makes the browser reload it.
  const meet = (): void => {
    port?.close()
    isThere = false
    element.style.setProperty('visibility', 'hidden')
    clearTimeout(timer)
    timer = setTimeout(fail, Math.min(timeoutMs, frameBeginsMsMax))
    port = greet(element, address, greeting())
    if (port === undefined) failed(noTexts)
    else port.onmessage = hear
  }
  element.addEventListener('load', meet)
  target.append(element)
  const say = (message: ToFrame): void => port?.postMessage(message)
  return {
    element,
    say,
    focus() {
      // If the frame has the focus, focusing again would take the caret from its field.
      if (element.getRootNode().activeElement !== element) element.focus()
      say({ type: 'focus' })
    },
    remove() {
      clearTimeout(timer)
      element.removeEventListener('load', meet)
      port?.close()
      port = undefined
      element.remove()
    },
  }
}
