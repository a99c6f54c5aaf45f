/**
 * A person without a mouse: goes through a page by Tab and Shift+Tab, acts by keys, and expects at
 * each step to see where the focus is.
 * @module
 */
import { expect } from 'bun:test'
import type { KeyInput, Page } from 'puppeteer-core'
import { openConsole, unlock } from './console.ts'
import type { DevVault } from './vaults.ts'

interface Stop {
  /** Name that a screen reader says: the label, or the text within. */
  readonly name: string
  readonly tag: string
  /** Style of the line around it. */
  readonly outline: string
}

const stop = `(() => {
  const { activeElement: at } = document
  const words = at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.innerText
  const { outlineStyle: outline } = getComputedStyle(at)
  return { name: words.trim(), tag: at.tagName.toLowerCase(), outline }
})()`

const focusNow = (page: Page) => page.evaluate(stop) as Promise<Stop>

/** More stops than a screen of these tests has. */
const stopsMax = 300

async function step(page: Page, isBack: boolean): Promise<Stop> {
  if (isBack) await page.keyboard.down('Shift')
  await page.keyboard.press('Tab')
  if (isBack) await page.keyboard.up('Shift')
  const at = await focusNow(page)
  if (at.tag !== 'body') expect(at).not.toMatchObject({ outline: 'none' })
  return at
}

/** Goes on until the focus is on what has that name. */
async function goUntil(page: Page, name: string, isBack: boolean): Promise<void> {
  const passed: string[] = []
  for (let stops = 0; stops < stopsMax; stops += 1) {
    const at = await step(page, isBack)
    if (at.name === name) return
    passed.push(at.name.slice(0, 40))
  }
  throw new Error(`no way to "${name}" by Tab, only to: ${[...new Set(passed)].join(' | ')}`)
}

export const tabTo = (page: Page, name: string) => goUntil(page, name, false)
export const tabBackTo = (page: Page, name: string) => goUntil(page, name, true)

/** Goes to a button or link, and presses it. */
export async function act(page: Page, name: string, key: KeyInput = 'Enter'): Promise<void> {
  await tabTo(page, name)
  await page.keyboard.press(key)
}

/** From the title of a screen back to the head of the page, and on to another screen. */
async function goTo(page: Page, screen: string): Promise<void> {
  await tabBackTo(page, screen)
  await page.keyboard.press('Enter')
  await expectFocus(page, 'h1', screen)
}

/** Goes to a field and replaces its text. */
export async function fill(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, label)
  await page.keyboard.down('Control')
  await page.keyboard.press('KeyA')
  await page.keyboard.up('Control')
  await page.keyboard.press('Backspace')
  await page.keyboard.type(text)
}

const settled = `new Promise(resolve => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)))
})`

/** Expects the focus there, and to be seen, once what was done has been drawn. */
export async function expectFocus(page: Page, tag: string, name: string): Promise<void> {
  await page.evaluate(settled)
  await page
    .waitForFunction(
      `(at => at.tag === ${JSON.stringify(tag)} && at.name === ${JSON.stringify(name)})(${stop})`,
      { timeout: 20_000 },
    )
    .catch(() => {})
  const at = await focusNow(page)
  expect(at).toMatchObject({ tag, name })
  expect(at).not.toMatchObject({ outline: 'none' })
}

/** Opens a screen as a manager, who comes to the overview first. */
export async function openAsManager(vault: DevVault, screen: string): Promise<Page> {
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await expectFocus(page, 'h1', 'Overview')
  await goTo(page, screen)
  return page
}
