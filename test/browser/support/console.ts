/**
 * The console in Chromium: opened, unlocked, and watched for what it must never do.
 * @module
 */
import { expect } from 'bun:test'
import type { HTTPRequest, Page } from 'puppeteer-core'
import { openPage } from './browsers.ts'
import type { DevVault } from './vaults.ts'

export interface ConsoleLook {
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
}

/** Looks of each screen: a desk by day, and a phone in the dark. */
export const looks: readonly ConsoleLook[] = [
  { scheme: 'light', width: 1200 },
  { scheme: 'dark', width: 375 },
]

export interface OpenedConsole {
  readonly page: Page
  readonly asked: readonly string[]
  /** Errors of the page, and what its policy refuses. */
  readonly complaints: readonly string[]
}

const waitMs = 300_000

/** Makes the page tell what its policy refuses, and its clock go ahead. */
const prepare = `
globalThis.violations = []
addEventListener('securitypolicyviolation', event => void violations.push(event.violatedDirective))
globalThis.skewMs = 0
const wall = Date.now
Date.now = () => wall() + globalThis.skewMs
`

export async function openConsole(
  vault: Pick<DevVault, 'address'>,
  { scheme = 'light', width = 1200 }: ConsoleLook = {},
): Promise<OpenedConsole> {
  const page = await openPage('chrome')
  const asked: string[] = []
  const complaints: string[] = []
  page.on('request', request => void asked.push(request.url()))
  page.on('pageerror', error => void complaints.push(String(error)))
  page.on('console', message => {
    // The browser writes a line for each answer from 400 on.
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text())
  })
  page.setDefaultTimeout(waitMs)
  await page.setViewport({ width, height: 900 })
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }])
  await page.evaluateOnNewDocument(prepare)
  await page.goto(`${vault.address}/console`)
  await page.waitForSelector('#key')
  return { page, asked, complaints }
}

/** Types a key as a person does, by the keyboard alone. */
export async function unlock(page: Page, key: string): Promise<void> {
  await page.waitForSelector('#key:focus')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
  await page.waitForSelector('#lock')
}

/** Text of the whole page, as a person reads it. */
export const pageText = (page: Page): Promise<string> =>
  page.evaluate('document.body.innerText') as Promise<string>

export const waitForText = (page: Page, text: string) =>
  page.waitForFunction(`document.body.innerText.includes(${JSON.stringify(text)})`)

export const waitWithout = (page: Page, text: string) =>
  page.waitForFunction(`!document.body.innerText.includes(${JSON.stringify(text)})`)

/** Clicks the first button or link of that text. */
export async function press(page: Page, text: string): Promise<void> {
  const found = `[...document.querySelectorAll('button, a, summary')].find(each =>
    each.innerText.trim() === ${JSON.stringify(text)} && !each.disabled)`
  await page.waitForFunction(`${found} !== undefined`)
  await page.evaluate(`${found}.click()`)
}

/** Asks for the value of the token whose page is open, and says why. */
export async function reveal(page: Page, reason = 'Case 17'): Promise<void> {
  await press(page, 'Reveal')
  await page.waitForSelector('#reason:focus')
  await page.keyboard.type(reason)
  await page.keyboard.press('Enter')
  await page.waitForFunction(`document.querySelector('#reason') === null`)
}

/** Resolves once what has happened so far is drawn. */
export const drawn = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))')

export interface HeldRequest {
  /** Resolves once the page has asked. */
  readonly asked: () => Promise<unknown>
  /** Lets it go on. Resolves once its answer has come, or the page has given it up. */
  readonly release: () => Promise<void>
}

/** Keeps the next request of that kind from the vault; all others go on. */
export async function holdNext(
  page: Page,
  isIt: (request: HTTPRequest) => boolean,
): Promise<HeldRequest> {
  const { promise, resolve } = Promise.withResolvers<HTTPRequest>()
  let isHeld = false
  await page.setRequestInterception(true)
  page.on('request', request => {
    if (isHeld || !isIt(request)) return void request.continue()
    isHeld = true
    resolve(request)
  })
  return {
    asked: () => promise,
    async release() {
      const request = await promise
      const over = new Promise<void>(done => {
        const end = (each: HTTPRequest): void => {
          if (each === request) done()
        }
        page.on('requestfinished', end)
        page.on('requestfailed', end)
      })
      if (request.failure() !== null) return
      await request.continue().catch(() => {})
      await over
      await drawn(page)
    },
  }
}

/** Returns how far it can be scrolled sideways, in pixels. */
export const sideways = (page: Page): Promise<number> =>
  page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  ) as Promise<number>

/** Expects no error, no violation of the policy, no request elsewhere and no trace of a secret. */
export async function expectClean(
  { page, asked, complaints }: OpenedConsole,
  vault: DevVault,
  secrets: readonly string[],
): Promise<void> {
  expect(complaints).toEqual([])
  expect(await page.evaluate('violations')).toEqual([])
  expect(asked.filter(url => !url.startsWith(vault.address))).toEqual([])
  const kept = await page.evaluate(`JSON.stringify([
    { ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state,
    window.name,
  ])`)
  for (const secret of secrets) {
    expect(kept).not.toContain(secret)
    expect(asked.filter(url => url.includes(secret))).toEqual([])
  }
}
