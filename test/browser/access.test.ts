/**
 * The card fields for people who do not see them, or read another language.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { ElementHandle } from 'puppeteer-core'
import { browserNames } from './support/browsers.ts'
import { checkoutIn, openCheckout, openShopPage, type Checkout } from './support/checkout.ts'
import { findingsIn } from './support/findings.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

interface Boxed {
  getBoundingClientRect(): { readonly left: number; readonly right: number }
}

/** Description of a field that a screen reader reads out. */
const described = (input: ElementHandle) =>
  input.evaluate(element => {
    const field = element as unknown as {
      readonly labels: readonly { readonly textContent: string }[]
      getAttribute(name: string): string | null
    }
    const { document } = globalThis as unknown as {
      document: { getElementById(id: string): { readonly textContent: string } | null }
    }
    const ids = field.getAttribute('aria-describedby')?.split(' ') ?? []
    return {
      name: field.labels[0]?.textContent,
      description: ids.map(id => document.getElementById(id)?.textContent).join(' '),
      isInvalid: field.getAttribute('aria-invalid'),
    }
  })

const toldOf = async ({ frame }: Checkout) =>
  Promise.all((await frame.$$('input')).map(input => described(input)))

describe.each(browserNames)('in %s', name => {
  let checkout: Checkout
  beforeEach(async () => {
    checkout = await openCheckout(name, shop, vault)
  })

  // proves F10
  test('axe finds nothing in the page and in the frame, also with errors', async () => {
    const { page, tokenize, fill } = checkout
    expect(await findingsIn(page)).toEqual([])
    await tokenize()
    expect(await findingsIn(page)).toEqual([])
    await fill('4242424242424242', '1131', '123')
    expect(await findingsIn(page)).toEqual([])
  })

  test('axe would find a field without a label', async () => {
    const { page, frame } = checkout
    await frame.$eval('#number-label', label => label.remove())
    expect(await findingsIn(page)).toEqual(['label-title-only'])
  })

  test('fields are found by their names', async () => {
    const { frame } = checkout
    for (const label of ['Card number', 'Expiry date', 'Security code']) {
      const found = await frame.$(`aria/${label}[role="textbox"]`)
      expect([label, found === null]).toEqual([label, false])
    }
  })

  // proves F10
  test('brand and errors are told with their field, and read out as they come', async () => {
    const { frame, fill, tokenize } = checkout
    await fill('4242424242424241', '', '')
    await tokenize()
    expect(await toldOf(checkout)).toEqual([
      {
        name: 'Card number',
        description: 'Visa This is no card number. Check its digits.',
        isInvalid: 'true',
      },
      {
        name: 'Expiry date',
        description: 'Enter month and year, as 08 / 31.',
        isInvalid: 'true',
      },
      { name: 'Security code', description: 'Enter the whole security code.', isInvalid: 'true' },
    ])
    const live = await frame.$$eval('[aria-live=polite]', all => all.map(({ id }) => id))
    expect(live).toEqual(['brand', 'number-error', 'expiry-error', 'cvc-error'])
  })

  test('browsers know what to fill in, and which keys to show', async () => {
    const { frame } = checkout
    const attributes = await frame.$$eval('input', all =>
      all.map(each => ['autocomplete', 'inputmode'].map(attribute => each.getAttribute(attribute))),
    )
    expect(attributes).toEqual([
      ['cc-number', 'numeric'],
      ['cc-exp', 'numeric'],
      ['cc-csc', 'numeric'],
    ])
  })

  test('texts in another language are read out in it, and from its side', async () => {
    const labels = {
      language: 'he',
      frame: 'פרטי כרטיס',
      number: 'מספר כרטיס',
      numberIncomplete: 'חסר מספר',
    }
    const page = await openShopPage(name, shop)
    const { frame, errors, tokenize } = await checkoutIn(page, vault, { labels })
    await tokenize()
    expect((await errors())[0]).toBe('חסר מספר')
    const root = await frame.$eval('html', html => [html.lang, html.dir])
    expect(root).toEqual(['he', 'rtl'])
    expect(await frame.$eval('[name=number]', input => input.getAttribute('dir'))).toBe('ltr')
    expect(await findingsIn(page)).toEqual([])
  })

  test.each(['en', 'he'])('the brand stands beside the number, in %s too', async language => {
    const page = await openShopPage(name, shop)
    const { frame, fill } = await checkoutIn(page, vault, { labels: { language } })
    await fill('5555555555554444', '', '')
    const [brand, numberEnd] = await frame.evaluate(() => {
      const { document, getComputedStyle } = globalThis as unknown as {
        document: { querySelector(selector: string): Boxed }
        getComputedStyle(element: Boxed): { readonly paddingRight: string }
      }
      const input = document.querySelector('[name=number]')
      const padding = Number.parseFloat(getComputedStyle(input).paddingRight)
      const boxes = [document.querySelector('#brand'), input].map(each =>
        each.getBoundingClientRect(),
      )
      return [boxes[0]?.left ?? 0, (boxes[1]?.right ?? 0) - padding] as const
    })
    expect(brand).toBeGreaterThan(numberEnd)
  })
})
