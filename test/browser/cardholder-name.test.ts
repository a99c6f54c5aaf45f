/**
 * The name on the card, where a page asks for it: the vault gets it, the page does not, and no
 * digit is ever in it.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { browserNames, type BrowserName } from './support/browsers.ts'
import { openCheckout, type Checkout, type ShopPage } from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const number = '4000056655665556'

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

const openNamed = (name: BrowserName) =>
  openCheckout(name, shop, vault, { options: { cardholderName: true } })

const heightOf = ({ page }: Checkout) =>
  page.$eval('iframe', each => (each as unknown as { style: { height: string } }).style.height)

/** Waits until messages between the frame and the page have arrived. */
const settled = () => Bun.sleep(300)

const nameIn = async ({ values }: Checkout) => (await values())[3]

const cardTests = (name: BrowserName) => {
  // proves S83
  test('it is kept beside the card, and the page hears nothing of it', async () => {
    const checkout = await openNamed(name)
    const { page, fill, tokenize, told } = checkout
    await fill(number, '1131', '739')
    await page.keyboard.press('Tab')
    await page.keyboard.type('  Zoë  O’Hara-Nuñez ')
    const made = await tokenize()
    expect(made).toMatchObject({ brand: 'visa', data: { number: 'XXXXXXXXXXXX5556' } })
    const { data } = await vault.backend.tokens.get(made.id ?? '')
    expect(data).toEqual({
      number,
      expiration_month: 11,
      expiration_year: 2031,
      cvc: '739',
      cardholder_name: 'Zoë O’Hara-Nuñez',
    })
    const heard = JSON.stringify([made, await told('change'), await told('ready')])
    expect(heard).not.toMatch(/Zo|Hara|cardholder/)
  })

  // proves F14
  test('a card without it is not whole, and the person is told', async () => {
    const { page, fill, tokenize, errors, state } = await openNamed(name)
    await fill(number, '1131', '739')
    expect((await state()).complete).toBe(false)
    expect(await tokenize()).toMatchObject({ code: 'invalid_card', fields: ['name'] })
    expect((await errors())[3]).toBe('Enter the name as it is on the card.')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Ada')
    expect(await state()).toEqual({ complete: true, brand: 'visa', errors: {} })
  })

  // proves F14
  test('a page that does not ask for it has no field and no name', async () => {
    const { fill, values, tokenize } = await openCheckout(name, shop, vault)
    await fill(number, '1131', '739')
    expect(await values()).toHaveLength(3)
    const { id = '' } = await tokenize()
    expect(await vault.backend.tokens.get(id)).not.toHaveProperty('data.cardholder_name')
  })
}

const digitTests = (name: BrowserName) => {
  // proves E17.15, S83
  test('a number typed in its field is not there, and the page is told nothing', async () => {
    const checkout = await openNamed(name)
    const { page, frame, fill, told, tokenize } = checkout
    await fill(number, '1131', '739')
    await page.keyboard.press('Tab')
    await page.keyboard.type('A')
    await settled()
    const before = [await told('change'), await heightOf(checkout)]
    await page.keyboard.type('4000 0566 5566 5556')
    await frame.$eval('[name=name]', input => {
      const field = input as unknown as { value: string; dispatchEvent(event: Event): void }
      field.value += '٤٢ ４２ Ⅳ ² 4242'
      field.dispatchEvent(new Event('input', { bubbles: true }))
    })
    await settled()
    expect([await told('change'), await heightOf(checkout)]).toEqual(before)
    expect((await nameIn(checkout))?.trim()).toBe('A')
    const { id = '' } = await tokenize()
    expect(await vault.backend.tokens.get(id)).toMatchObject({ data: { cardholder_name: 'A' } })
  })

  test('digits alone are no name', async () => {
    const checkout = await openNamed(name)
    await checkout.fill(number, '1131', '739')
    await checkout.page.keyboard.press('Tab')
    await checkout.page.keyboard.type(number)
    expect(await nameIn(checkout)).toBe('')
    expect(await checkout.tokenize()).toMatchObject({ code: 'invalid_card', fields: ['name'] })
  })

  // proves E17.16
  test('a page does not move the caret into it, nor out of it', async () => {
    const checkout = await openNamed(name)
    const { page, fill, values } = checkout
    const hostFocus = () => page.evaluate(() => (globalThis as unknown as ShopPage).card.focus())
    await fill('42222222', '1131', '1')
    await checkout.tokenize()
    await hostFocus()
    await settled()
    await page.keyboard.type('23')
    expect(await values()).toEqual(['4222 2222', '11 / 31', '123', ''])
    await page.keyboard.press('Tab')
    await page.keyboard.type('Ada')
    await hostFocus()
    await settled()
    await page.keyboard.type('B')
    expect(await values()).toEqual(['4222 2222', '11 / 31', '123', 'AdaB'])
  })

  test('a letter in its middle leaves the caret behind it', async () => {
    const checkout = await openNamed(name)
    const { page, frame } = checkout
    await frame.focus('[name=name]')
    await page.keyboard.type('Aa')
    for (const key of ['ArrowLeft', '5', 'd'] as const) await page.keyboard.press(key)
    await page.keyboard.type('7b')
    expect(await nameIn(checkout)).toBe('Adba')
  })
}

describe.each(browserNames)('in %s', name => {
  cardTests(name)
  digitTests(name)
})
