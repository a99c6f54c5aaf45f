/**
 * The element `<coffer-card>`, as HTML and scripts use it.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { browserNames, openPage, type BrowserName } from './support/browsers.ts'
import { frameOf } from './support/checkout.ts'
import { openBundledPage } from './support/frameworks.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let address: string
beforeAll(async () => {
  vault = await openVault()
  address = await openBundledPage(`
    import 'coffer/elements/element'
    globalThis.told = []
    for (const name of ['ready', 'change', 'submit', 'error']) {
      document.addEventListener('coffer-' + name, event => {
        told.push([name, event.detail?.code ?? event.detail])
        if (globalThis.isTaken) event.preventDefault()
      }, true)
    }
    globalThis.reported = []
    addEventListener('error', ({ error }) => reported.push(error.code))
    globalThis.begun = true`)
})

interface CofferCardLike {
  tokenize(): Promise<{ readonly id: string }>
  focus(): void
  clear(): void
  setAttribute(name: string, value: string): void
  remove(): void
}

interface ElementPage {
  readonly told: (readonly [string, unknown])[]
  readonly reported: readonly string[]
  readonly document: {
    querySelector(
      selector: string,
    ): CofferCardLike & { innerHTML: string; append(node: unknown): void }
    createElement(name: string): object
  }
}

async function open(name: BrowserName): Promise<Page> {
  const page = await openPage(name)
  await page.goto(address)
  await page.waitForFunction('globalThis.begun')
  return page
}

const write = (page: Page, html: string) =>
  page.$eval('#root', (root, text) => void Object.assign(root, { innerHTML: text }), html)

const told = (page: Page) => page.evaluate(() => (globalThis as unknown as ElementPage).told)

async function untilTold(page: Page, name: string): Promise<unknown> {
  for (;;) {
    const found = (await told(page)).find(([each]) => each === name)
    if (found !== undefined) return found[1]
    await Bun.sleep(50)
  }
}

async function fill(page: Page): Promise<void> {
  await page.evaluate(() => {
    const { document } = globalThis as unknown as ElementPage
    document.querySelector('coffer-card').focus()
  })
  const frame = frameOf(page, vault)
  await frame.focus('[name=number]')
  for (const text of ['4242424242424242', '1131', '123']) {
    await page.keyboard.type(text)
    await page.keyboard.press('Tab')
  }
}

const codeOfTokenize = (page: Page) =>
  page.evaluate(async () => {
    const { document } = globalThis as unknown as ElementPage
    try {
      return (await document.querySelector('coffer-card').tokenize()).id
    } catch (error) {
      return (error as { code: string }).code
    }
  })

describe.each(browserNames)('in %s', name => {
  // proves F16
  test('attributes are enough for a card to become a token', async () => {
    const page = await open(name)
    const attributes = `address="${vault.address}" api-key="${vault.publicKey}" locale="fr"`
    await write(page, `<coffer-card ${attributes} color-scheme="dark"></coffer-card>`)
    await untilTold(page, 'ready')
    expect(await frameOf(page, vault).title()).toBe('Coordonnées de la carte')
    expect(await frameOf(page, vault).$('html[data-scheme="dark"]')).not.toBeNull()
    await fill(page)
    const id = await codeOfTokenize(page)
    expect(await vault.backend.tokens.get(id)).toMatchObject({ type: 'card' })
    expect(await untilTold(page, 'change')).toMatchObject({ brand: expect.any(String) })
  })

  test('a script may make it, with properties, and move, change and remove it', async () => {
    const page = await open(name)
    const given = { address: vault.address, key: vault.publicKey }
    await page.evaluate(({ address, key }) => {
      const { document } = globalThis as unknown as ElementPage
      const card = document.createElement('coffer-card') as CofferCardLike
      document.querySelector('#root').append(card)
      // Set after it came into the page, as some frameworks do.
      card.setAttribute('address', address)
      card.setAttribute('cardholder-name', '')
      Object.assign(card, { apiKey: () => key, styles: { label: { color: 'rgb(1, 2, 3)' } } })
    }, given)
    await untilTold(page, 'ready')
    expect(await page.$$('iframe')).toHaveLength(1)
    expect(await frameOf(page, vault).$$('input')).toHaveLength(4)
    await fill(page)
    await page.$eval('coffer-card', card => card.setAttribute('color-scheme', 'dark'))
    await frameOf(page, vault).waitForSelector('html[data-scheme="dark"]')
    const values = await frameOf(page, vault).$$eval('input', all =>
      all.map(each => (each as unknown as { value: string }).value),
    )
    expect(values.slice(0, 3)).toEqual(['4242 4242 4242 4242', '11 / 31', '123'])
    await page.$eval('coffer-card', card => card.setAttribute('locale', 'ja'))
    await page.waitForFunction(`document.querySelector('iframe')?.title === 'カード情報'`)
    expect(await page.$$('iframe')).toHaveLength(1)
    await page.$eval('coffer-card', card => (card as unknown as CofferCardLike).remove())
    expect(await page.$$('iframe')).toHaveLength(0)
  })

  test('a mistake is told by an event, and in the console where nobody takes it', async () => {
    const reported = (page: Page) =>
      page.evaluate(() => (globalThis as unknown as ElementPage).reported)
    const wrong = '<coffer-card address="vault.example" api-key="a"></coffer-card>'
    const page = await open(name)
    await write(page, wrong)
    expect(await untilTold(page, 'error')).toBe('invalid_options')
    expect(await reported(page)).toEqual(['invalid_options'])
    expect(await codeOfTokenize(page)).toBe('destroyed')
    const other = await open(name)
    await other.evaluate(() => void Object.assign(globalThis, { isTaken: true }))
    await write(other, wrong)
    expect(await untilTold(other, 'error')).toBe('invalid_options')
    expect(await reported(other)).toEqual([])
  })
})
