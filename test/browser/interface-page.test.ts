/**
 * The page of the interface, as the vault serves it with its content security policy.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { browserNames, openPage, type BrowserName } from './support/browsers.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

interface Look {
  readonly scheme?: 'light' | 'dark'
  readonly width?: number
}

interface Opened {
  readonly page: Page
  readonly asked: readonly string[]
  /** Errors of the page, and requests that its policy refuses. */
  readonly complaints: readonly string[]
}

const waitMs = 300_000

async function openInterface(name: BrowserName, look: Look = {}): Promise<Opened> {
  const page = await openPage(name)
  const asked: string[] = []
  const complaints: string[] = []
  page.on('request', request => void asked.push(request.url()))
  page.on('pageerror', error => void complaints.push(String(error)))
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.setDefaultTimeout(waitMs)
  await page.setViewport({ width: look.width ?? 1200, height: 900 })
  if (look.scheme !== undefined) await emulate(page, look.scheme)
  await page.goto(`${vault.address}/swagger`)
  await page.waitForSelector('.opblock')
  return { page, asked, complaints }
}

const emulate = (page: Page, value: 'light' | 'dark') =>
  page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])

/** Clicks the first of the elements that a selector finds. */
const click = async (page: Page, selector: string): Promise<void> => {
  await page.waitForSelector(selector)
  await page.$eval(selector, element => (element as unknown as { click(): void }).click())
}

const operationOf = (name: string): string => `[id$="-${name}"]`

const shownOperations = ['createToken', 'listTokens']

/** A body, a list of parameters and a schema are open, and ready to be filled. */
async function openAll(page: Page): Promise<void> {
  for (const operation of shownOperations.map(operationOf)) {
    await click(page, `${operation} .opblock-summary-control`)
    await click(page, `${operation} .try-out__btn`)
    await page.waitForSelector(`${operation} .execute`)
  }
  await click(page, '.models .json-schema-2020-12-accordion')
}

const textOf = (page: Page, selector: string): Promise<string> =>
  page.$eval(selector, element => (element as unknown as { innerText: string }).innerText)

/** Returns the path and query of the request that an operation has sent. */
async function askedBy(page: Page, operation: string): Promise<string> {
  const url = new URL(await textOf(page, `${operation} .request-url pre`))
  return `${url.pathname}${url.search}`
}

/** Returns how far it can be scrolled sideways, in pixels. */
const overflowOf = (page: Page) => {
  const root = 'document.documentElement'
  return page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)
}

/** The ground of `lib/look.ts`. */
const groundOf = (page: Page) =>
  page.evaluate('getComputedStyle(document.documentElement).backgroundColor')

/** Firefox takes its scheme from the system, and a driver cannot set it. */
const looks: Readonly<Record<BrowserName, readonly (readonly ['light' | 'dark', number])[]>> = {
  chrome: [
    ['light', 1200],
    ['dark', 375],
  ],
  firefox: [
    ['light', 1200],
    ['light', 375],
  ],
}

const pageTests = (name: BrowserName) => {
  test.each(looks[name])(
    'fits a window that is %s and %i wide, and axe finds nothing serious',
    async (scheme, width) => {
      const { page, asked, complaints } = await openInterface(name, {
        ...(scheme === 'dark' ? { scheme } : {}),
        width,
      })
      expect(await seriousIn(page, '.opblock')).toEqual([])
      expect(await overflowOf(page)).toBe(0)
      await openAll(page)
      expect(await seriousIn(page, '.opblock')).toEqual([])
      expect(await overflowOf(page)).toBe(0)
      await click(page, '.btn.authorize')
      await page.waitForSelector('.modal-ux')
      expect(await seriousIn(page, '.modal-ux')).toEqual([])
      expect(complaints).toEqual([])
      expect(asked.length).toBeGreaterThan(4)
      const elsewhere = (url: string) => !url.startsWith(vault.address) && !url.startsWith('data:')
      expect(asked.filter(elsewhere)).toEqual([])
    },
  )

  test('asks the vault with a key that was typed, and keeps it nowhere', async () => {
    const { id } = await vault.backend.tokens.create({
      type: 'token',
      data: 'seen through the page',
    })
    const { page } = await openInterface(name)
    await click(page, '.btn.authorize')
    const field = await page.waitForSelector('.modal-ux input')
    await field?.type(vault.privateKey)
    await click(page, '.modal-ux .authorize')
    await click(page, '.modal-ux .btn-done')
    const operation = operationOf('getToken')
    await click(page, `${operation} .opblock-summary-control`)
    await click(page, `${operation} .try-out__btn`)
    const parameter = await page.waitForSelector(`${operation} [data-param-name="id"] input`)
    await parameter?.click({ count: 3 })
    await parameter?.type(id)
    // A typed value counts once the field is left.
    await page.keyboard.press('Tab')
    await click(page, `${operation} .execute`)
    await page.waitForSelector(`${operation} .live-responses-table`)
    expect(await textOf(page, `${operation} .live-responses-table`)).toContain('seen through the')
    expect(await askedBy(page, operation)).toBe(`/tokens/${id}`)
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'
    expect(await page.evaluate(kept)).toBe('[{},{},""]')
  })

  test('has one server, which is this vault, and no bar that loads another document', async () => {
    const { page } = await openInterface(name)
    expect(await page.$$('.servers, .topbar')).toHaveLength(0)
    const targets: string[] = await page.$$eval('a[href]', links =>
      links.map(each => (each as unknown as { href: string }).href),
    )
    expect(targets.filter(url => !url.startsWith(vault.address))).toEqual([])
  })
}

const parameterTests = (name: BrowserName) => {
  test('sends an optional parameter once it is chosen, and none before', async () => {
    const { page } = await openInterface(name)
    const operation = operationOf('listTokens')
    await click(page, `${operation} .opblock-summary-control`)
    await click(page, `${operation} .try-out__btn`)
    await click(page, `${operation} .execute`)
    await page.waitForSelector(`${operation} .request-url`)
    expect(await askedBy(page, operation)).toBe('/tokens')
    const size = await page.waitForSelector(`${operation} [data-param-name="size"] input`)
    await size?.type('7')
    await page.keyboard.press('Tab')
    await click(page, `${operation} .execute`)
    await page.waitForFunction(
      `document.querySelector('${operation} .request-url').innerText.includes('?')`,
    )
    expect(await askedBy(page, operation)).toBe('/tokens?size=7')
  })
}

describe.each(browserNames)('the page of the interface in %s', name => {
  pageTests(name)
  parameterTests(name)
})

test('the page of the interface is as dark as the system is, and follows it', async () => {
  const { page } = await openInterface('chrome', { scheme: 'dark' })
  expect(await groundOf(page)).toBe('rgb(17, 24, 39)')
  await emulate(page, 'light')
  await page.waitForSelector('html:not(.dark-mode)')
  expect(await groundOf(page)).toBe('rgb(243, 244, 246)')
})
