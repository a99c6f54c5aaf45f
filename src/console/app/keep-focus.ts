/**
 * Focus that is not lost: a button that goes, or can no more be pressed, would leave it on the body
 * of the page, and a person without a mouse would begin anew at the top. The title of what was
 * around it takes it.
 * @module
 */
import { afterDrawing } from './platform.ts'

/** From the inside out. */
function* placesAround(element: Element, root: Element): Generator<Element> {
  for (let at = element.parentElement; at !== null && at !== root; at = at.parentElement) yield at
}

const isGone = (element: Element | undefined): boolean =>
  element !== undefined && (!element.isConnected || element.matches(':disabled'))

const titleIn = (place: Element): HTMLElement | null =>
  place.matches('section, main') ? place.querySelector('h1, h2') : null

/** @param root element that stays, around all that is drawn */
export function keepFocus(root: Element): void {
  let last: Element | undefined
  let around: readonly Element[] = []
  root.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof Element)) return
    last = target
    around = [...placesAround(target, root)]
  })
  // By a person who clicks elsewhere, unless it is gone once this script has ended.
  root.addEventListener('focusout', ({ target }) => {
    queueMicrotask(() => {
      if (last === target && !isGone(last)) last = undefined
    })
  })
  const look = (): void => {
    if (!isGone(last) || document.activeElement !== document.body) return
    const titles = around.filter(place => place.isConnected).map(titleIn)
    const title = titles.find(each => each !== null)
    if (!title) return
    title.tabIndex = -1
    title.focus()
  }
  // A screen that has a better place for the focus has moved it by then.
  new MutationObserver(() => afterDrawing(look)).observe(root, {
    subtree: true,
    childList: true,
    attributeFilter: ['disabled'],
  })
}
