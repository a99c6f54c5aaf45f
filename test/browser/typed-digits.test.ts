/**
 * Facts that a page learns of a card while it is being typed: it asks for tokens, moves the focus
 * and reads each message and each height of the frame.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { isLuhnValid } from '../../src/rules/clear-text.ts'
import { browserNames } from './support/browsers.ts'
import { checkoutIn, openCheckout, type Checkout, type ShopPage } from './support/checkout.ts'
import { countFocus, untilFocused } from './support/focus.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

/** First digits of 16, of which the first 13 pass the check sum, and the first 15 too. */
const beginnings = { visa: '4222222222222', mastercard: '510510510510515' }
const number = '4222222222222006'

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

const count = async (): Promise<number> =>
  (await vault.backend.tokens.listPage()).pagination.total_items

const hostFocus = ({ page }: Checkout, steal = false) =>
  page.evaluate(isStolen => {
    const { document, card } = globalThis as unknown as ShopPage & {
      document: { querySelector(selector: string): { focus(): void } }
    }
    if (isStolen) document.querySelector('#pay').focus()
    card.focus()
  }, steal)

const heightOf = ({ page }: Checkout) =>
  page.$eval('iframe', each => (each as unknown as { style: { height: string } }).style.height)

/** Names a field in the address of the frame, to which a browser moves the caret. */
const aimAt =
  (field: string) =>
  ({ page }: Checkout) =>
    page.$eval(
      'iframe',
      (each, id) => {
        const { src, contentWindow } = each as unknown as {
          readonly src: string
          readonly contentWindow: { readonly location: { replace(address: string): void } }
        }
        contentWindow.location.replace(`${src}#${id}`)
      },
      field,
    )

/** Returns the extent of the frame's contents: beyond its own size there would be scroll bars. */
const sizesIn = ({ frame }: Checkout) =>
  frame.$eval('html', each => {
    const { scrollWidth, scrollHeight } = each as unknown as Readonly<Record<string, number>>
    return [scrollWidth, scrollHeight]
  })

/** Waits until messages between the frame and the page have arrived. */
const settled = () => Bun.sleep(300)

test('the beginnings are what a page would wait for', () => {
  expect([...Object.values(beginnings), number].map(isLuhnValid)).toEqual([true, true, true])
})

const typingTests = (open: () => Checkout) => {
  // proves E17.12, S80
  test.each(Object.entries(beginnings))(
    'a page is told nothing of %s while it is typed, and has no token of it',
    async (_, beginning) => {
      const checkout = open()
      const { page, frame, told, state, tokenize } = checkout
      const before = await count()
      await checkout.fill('', '1131', '123')
      await frame.focus('[name=number]')
      await settled()
      const messages = (await told('change')).length
      await page.keyboard.type(beginning)
      const first = await tokenize()
      expect(first).toMatchObject({ code: 'invalid_card', fields: ['number'] })
      expect(await told('change')).toHaveLength(messages)
      await page.keyboard.press('Tab')
      expect(await tokenize()).toMatchObject({ code: 'invalid_card', fields: ['number'] })
      expect(await state()).toEqual({
        complete: false,
        brand: 'unknown',
        errors: { number: 'incomplete' },
      })
      expect(await count()).toBe(before)
    },
  )

  // proves E17.14, S80
  test('a number typed anew is right or wrong when it is left, and not before', async () => {
    const checkout = open()
    const { page, frame, told, state } = checkout
    await checkout.fill('4222222222222007', '1131', '123')
    await settled()
    expect((await state()).errors).toEqual({ number: 'invalid' })
    await frame.focus('[name=number]')
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    await settled()
    const [messages, height] = [(await told('change')).length, await heightOf(checkout)]
    for (const key of ['6', 'Backspace', '5', 'Backspace', '6'] as const) {
      await page.keyboard.press(key)
    }
    await settled()
    expect([(await told('change')).length, await heightOf(checkout)]).toEqual([messages, height])
    expect((await state()).complete).toBe(false)
    await page.keyboard.press('Tab')
    await settled()
    expect(await state()).toEqual({ complete: true, brand: 'visa', errors: {} })
  })

  // proves F7
  test('a number is whole when Enter is pressed in it', async () => {
    const { page, fill, state } = open()
    await fill('', '1131', '123')
    await page.keyboard.down('Shift')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.up('Shift')
    await page.keyboard.type(number)
    await page.keyboard.press('Enter')
    await settled()
    expect(await state()).toEqual({ complete: true, brand: 'visa', errors: {} })
  })
}

const brandTests = (open: () => Checkout) => {
  // proves E17.18, S80
  test('however large a shop makes the brand, it overflows nowhere while it is typed', async () => {
    const { page } = open()
    const styles = { brand: { 'font-size': '400px', 'line-height': '8' } }
    for (const language of ['en', 'ar']) {
      await page.reload()
      await page.waitForSelector('html[data-begun]')
      const checkout = await checkoutIn(page, vault, { styles, labels: { language } })
      await checkout.frame.focus('[name=number]')
      await settled()
      const before = [await sizesIn(checkout), await heightOf(checkout)]
      await page.keyboard.type('4')
      await checkout.frame.waitForFunction(
        "document.querySelector('#brand').textContent === 'Visa'",
      )
      await settled()
      expect([await sizesIn(checkout), await heightOf(checkout)]).toEqual(before)
    }
  })
}

const focusTests = (open: () => Checkout) => {
  // proves E17.13, S80
  test.each([
    ['by focus()', (checkout: Checkout) => hostFocus(checkout)],
    ['by an order for a token', (checkout: Checkout) => checkout.tokenize()],
    ['by the address of the number', aimAt('number')],
  ])('a page does not move the caret from the code to the number: %s', async (_, move) => {
    const checkout = open()
    const { page, fill, values } = checkout
    await fill('42222222', '1131', '1')
    await move(checkout)
    await settled()
    await page.keyboard.type('23')
    expect(await values()).toEqual(['4222 2222', '11 / 31', '123'])
  })

  test('a page that takes the focus and gives it back leaves the caret in the code', async () => {
    const checkout = open()
    const { page, frame, fill, values } = checkout
    await fill('42222222', '1131', '1')
    const heard = await countFocus(frame)
    await hostFocus(checkout, true)
    while ((await heard()).focus === 0) await Bun.sleep(20)
    await untilFocused(frame, 'cvc')
    await page.keyboard.type('23')
    expect(await values()).toEqual(['4222 2222', '11 / 31', '123'])
  })

  test('focus that comes behind the message of focus() leaves the caret in a field', async () => {
    const checkout = open()
    await checkout.frame.evaluate(() => {
      const { document, window } = globalThis as unknown as {
        document: { querySelector(name: string): EventTarget & { blur(): void } }
        window: EventTarget
      }
      const number = document.querySelector('[name=number]')
      const lose = () => {
        number.blur()
        window.dispatchEvent(new Event('focus'))
      }
      number.addEventListener('focus', lose, { once: true })
    })
    await hostFocus(checkout)
    await untilFocused(checkout.frame, 'number')
  })

  test('focus() takes the caret from no field, not for a moment', async () => {
    const checkout = open()
    await checkout.fill('42222222', '1131', '1')
    const heard = await countFocus(checkout.frame)
    await hostFocus(checkout)
    await checkout.tokenize()
    await settled()
    expect(await heard()).toEqual({ focus: 0, blur: 0 })
  })
}

const fillingTests = (open: () => Checkout) => {
  // proves E17.12, S80
  test('one filling is one token, and a number that has one is typed anew', async () => {
    const { page, frame, fill, values, tokenize, state } = open()
    await fill(number, '1131', '123')
    const before = await count()
    const made = await tokenize()
    expect(made).toMatchObject({ brand: 'visa' })
    expect(await tokenize()).toEqual(made)
    expect(await tokenize({ metadata: { a: 'b' } })).toMatchObject({ code: 'invalid_request' })
    expect(await count()).toBe(before + 1)
    await frame.focus('[name=number]')
    await page.keyboard.press('End')
    await page.keyboard.type('182')
    await page.keyboard.press('Tab')
    expect((await values())[0]).toBe('182')
    await settled()
    expect((await state()).complete).toBe(false)
    expect(await tokenize()).toMatchObject({ code: 'invalid_card', fields: ['number'] })
  })

  test('a number that has a token is deleted as a whole, and does not come back', async () => {
    const { page, frame, fill, values, tokenize } = open()
    await fill(number, '1131', '123')
    await tokenize()
    await frame.focus('[name=number]')
    await page.keyboard.press('End')
    await page.keyboard.press('Backspace')
    expect((await values())[0]).toBe('')
    await page.keyboard.down('Control')
    await page.keyboard.press('z')
    await page.keyboard.up('Control')
    expect((await values())[0]).toBe('')
  })

  // proves F7
  test('a code that was corrected makes another token of the number', async () => {
    const { page, fill, tokenize } = open()
    await fill(number, '1131', '123')
    const made = await tokenize()
    await page.keyboard.press('Backspace')
    await page.keyboard.type('4')
    const other = await tokenize()
    expect(other).toMatchObject({ brand: 'visa' })
    expect(other.id).not.toBe(made.id)
  })
}

describe.each(browserNames)('in %s', name => {
  let checkout: Checkout
  beforeEach(async () => {
    checkout = await openCheckout(name, shop, vault)
  })
  const open = () => checkout
  typingTests(open)
  brandTests(open)
  focusTests(open)
  fillingTests(open)
})
