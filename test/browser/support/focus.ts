/**
 * Focus in a page and in the frame of the vault: it takes a moment to move between two processes of
 * a browser, and keys that come before it are lost.
 * @module
 */
import { expect } from 'bun:test'
import type { Frame, Page } from 'puppeteer-core'

type Place = Pick<Page, 'evaluate'>

/** Returns the name of the focused field, or the id of another element. */
export const focused = (where: Place) =>
  where.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: { activeElement: { readonly id: string; readonly name?: string } }
    }
    const { id, name } = document.activeElement
    return name || id
  })

/** Waits until that element has the focus. */
export async function untilFocused(where: Place, name: string): Promise<void> {
  for (let waits = 0; waits < 5_000 && (await focused(where)) !== name; waits += 1)
    await Bun.sleep(20)
  expect(await focused(where)).toBe(name)
}

type Heard = Record<'focus' | 'blur', number>

/** @returns how often the focus has come into the frame, or left it or a field of it, since */
export async function countFocus(frame: Frame): Promise<() => Promise<Heard>> {
  const heard = await frame.evaluateHandle(() => {
    const { window } = globalThis as unknown as { window: EventTarget }
    const counts = { focus: 0, blur: 0 }
    window.addEventListener('focus', ({ target }) => {
      if (target === window) counts.focus += 1
    })
    window.addEventListener('blur', () => (counts.blur += 1), true)
    return counts
  })
  return () => heard.jsonValue()
}
