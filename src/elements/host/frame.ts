/**
 * The frame in the page, and the one channel to what is in it.
 * @module
 */
import type { FrameElement, PageNode, PageDocument } from '../dom.ts'
import { frameBeginsMsMax, frameEdgePx, frameHeightPxFirst, frameHeightPxMax } from '../limits.ts'
import type { ElementsErrorCode, Failure, Greeting, ToFrame, ToPage } from '../protocol.ts'

declare const document: PageDocument

export interface FrameEvents {
  readonly heard: (message: ToPage) => void
  /** It is no vault's frame, or one that this page may not have. */
  readonly failed: (failure: Failure) => void
}

export interface CardFrame {
  readonly element: FrameElement
  readonly say: (message: ToFrame) => void
  readonly focus: () => void
  readonly remove: () => void
}

const failureOf = (code: ElementsErrorCode, message: string): Failure => ({ code, message })

/** A frame that shows nothing says nothing of why, so that all that it can be is told. */
const noFrame = (address: URL): Failure =>
  failureOf(
    'no_frame',
    `no card fields came from ${address.href}: the address is wrong, the vault is closed, or the ` +
      'content security policy of this page lacks the origin of the vault in frame-src ' +
      '(and in connect-src, to learn more)',
  )

/** The vault says whether it is for pages of this origin; a frame that it is not for is blank. */
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
    // Until the fields are there, so that no page of the browser's own is seen in their place.
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

/** Nothing of a browser's own is seen where no fields are. */
const hide = (element: FrameElement): void => element.style.setProperty('display', 'none')

/** What the frame says of itself shows in its element. */
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
 * Greets what is in the frame; only the vault's origin gets it.
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
  /** As it is at the time: the frame is greeted again where the page has moved it. */
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
    // It may have come while that was asked.
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
  // Again where the page has moved the frame, which makes the browser load it anew.
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
      // Where it is there already, the browser would take the caret from the field that has it.
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
