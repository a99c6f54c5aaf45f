/**
 * Finds if the page around the fields is light or dark. A browser puts an opaque canvas behind a
 * frame whose scheme differs from its element's, so both are always given the same one.
 * @module
 */
import type { Events, PageNode, PageDocument } from '../dom.ts'
import type { ColorScheme } from '../protocol.ts'

interface Computed {
  readonly color: string
  readonly colorScheme?: string
}

declare const document: PageDocument
declare function getComputedStyle(element: PageNode): Computed
declare function matchMedia(query: string): Events
declare const MutationObserver: new (then: () => void) => {
  observe(element: PageNode, what: { readonly attributes: true }): void
  disconnect(): void
}

/** `auto` is detected again when the page changes. */
export type ColorSchemeOption = ColorScheme | 'auto'

/** Lightness from 0 to 1 of a computed colour, as `rgb(1, 2, 3)` or `oklch(0.9 0 0)`. */
export function lightnessOf(colour: string): number {
  const [, space = '', values = ''] = /^([a-z]+)\((.*)/.exec(colour) ?? []
  const numbers = values.split(/[ ,]+/).map(Number.parseFloat)
  const [first = 0, second = 0, third = 0] = numbers.filter(each => !Number.isNaN(each))
  if (space.startsWith('ok')) return first
  if (/^l(?:ab|ch)$/.test(space)) return first / 100
  const luma = 0.3 * first + 0.59 * second + 0.11 * third
  return space === 'color' ? luma : luma / 255
}

/** If a page declares no scheme, light text implies a dark background. */
function schemeAround(element: PageNode): ColorScheme {
  const { color, colorScheme = '' } = getComputedStyle(element)
  const isDark = /\bdark\b/.test(colorScheme)
  if (isDark !== /\blight\b/.test(colorScheme)) return isDark ? 'dark' : 'light'
  return lightnessOf(color) > 0.6 ? 'dark' : 'light'
}

/** @returns a function that stops it */
function watch(look: () => void): () => void {
  const preference = matchMedia('(prefers-color-scheme: dark)')
  const observer = new MutationObserver(look)
  for (const node of [document.documentElement, document.body]) {
    observer.observe(node, { attributes: true })
  }
  preference.addEventListener('change', look)
  // The final colour is known once a transition has ended.
  document.addEventListener('transitionend', look)
  return () => {
    observer.disconnect()
    preference.removeEventListener('change', look)
    document.removeEventListener('transitionend', look)
  }
}

export interface SchemeFollower {
  readonly scheme: () => ColorScheme
  /** Detects again, for example after the page moved the frame. */
  readonly look: () => void
  readonly set: (option: ColorSchemeOption) => void
  readonly end: () => void
}

/**
 * @param frame in the page
 * @param changed called when the scheme has changed
 */
export function followScheme(
  frame: PageNode,
  option: ColorSchemeOption,
  changed: () => void,
): SchemeFollower {
  let wanted = option
  const find = (): ColorScheme =>
    wanted === 'auto' ? schemeAround(frame.parentElement ?? document.documentElement) : wanted
  let scheme = find()
  const look = (): void => {
    if (scheme === (scheme = find())) return
    changed()
  }
  return {
    scheme: () => scheme,
    look,
    set(next) {
      wanted = next
      look()
    },
    end: watch(look),
  }
}
