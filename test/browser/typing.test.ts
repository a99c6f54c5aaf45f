/**
 * Typing, pasting, leaving and correcting, by hand and by keyboard alone.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { KeyInput, Page } from 'puppeteer-core'
import { browserNames, type BrowserName } from './support/browsers.ts'
import { openCheckout, type Checkout, type ShopPage } from './support/checkout.ts'
import { focused, untilFocused } from './support/focus.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

/** Chromium must be told the effect of editing keys; Firefox knows it. */
const withControl = async (page: Page, key: KeyInput, command: string) => {
  await page.keyboard.down('Control')
  await page.keyboard.press(key, { commands: [command] })
  await page.keyboard.up('Control')
}

/** Copies a text out of a field of the shop. */
async function copy(page: Page, text: string): Promise<void> {
  await page.$eval('#name', (input, value) => void Object.assign(input, { value }), text)
  await page.focus('#name')
  await withControl(page, 'a', 'SelectAll')
  await withControl(page, 'c', 'Copy')
}

const press = async ({ page }: Checkout, ...keys: readonly KeyInput[]) => {
  for (const key of keys) await page.keyboard.press(key)
}

const caret = ({ frame }: Checkout) =>
  frame.$eval(
    '[name=number]',
    input => (input as unknown as { selectionStart: number }).selectionStart,
  )

const caretTests = (open: () => Checkout) => {
  // proves F9
  test('a digit that is put in the middle leaves the caret behind it', async () => {
    const checkout = open()
    await checkout.fill('42424242', '', '')
    await checkout.frame.focus('[name=number]')
    await press(checkout, 'Home', 'ArrowRight', 'ArrowRight', '9')
    expect([(await checkout.values())[0], await caret(checkout)]).toEqual(['4294 2424 2', 3])
    await press(checkout, 'Backspace')
    expect([(await checkout.values())[0], await caret(checkout)]).toEqual(['4242 4242', 2])
  })

  test('a key that deletes a space deletes the digit beside it', async () => {
    const checkout = open()
    await checkout.fill('42424142', '', '')
    await checkout.frame.focus('[name=number]')
    await press(checkout, 'Home', ...Array<KeyInput>(5).fill('ArrowRight'), 'Backspace')
    expect([(await checkout.values())[0], await caret(checkout)]).toEqual(['4244 142', 3])
    await press(checkout, 'ArrowRight', 'Delete')
    expect([(await checkout.values())[0], await caret(checkout)]).toEqual(['4244 42', 4])
  })

  test('the expiry can be deleted key by key', async () => {
    const checkout = open()
    await checkout.fill('', '831', '')
    expect((await checkout.values())[1]).toBe('08 / 31')
    await checkout.frame.focus('[name=expiry]')
    await press(checkout, 'End', 'Backspace', 'Backspace')
    expect((await checkout.values())[1]).toBe('08')
    await press(checkout, 'Backspace', 'Backspace')
    expect((await checkout.values())[1]).toBe('')
  })
}

const pasteTests = (open: () => Checkout, name: BrowserName) => {
  test.each([
    ['4242-4242-4242-4242', '[name=number]', '4242 4242 4242 4242'],
    [' 3782 822463 10005\n', '[name=number]', '3782 822463 10005'],
    ['3/2031', '[name=expiry]', '03 / 2031'],
    ['12/31', '[name=expiry]', '12 / 31'],
  ])(`%j is pasted into %s of ${name}`, async (text, field, shown) => {
    const { page, frame, values } = open()
    await copy(page, text)
    await frame.focus(field)
    await withControl(page, 'v', 'Paste')
    expect(await values()).toContain(shown)
  })
}

const keyboardTests = (open: () => Checkout) => {
  // proves F9
  test('Tab goes through the fields in order, and on to the page', async () => {
    const { page, frame } = open()
    await page.focus('#name')
    for (const id of ['number', 'expiry', 'cvc', 'pay']) {
      await page.keyboard.press('Tab')
      await untilFocused(id === 'pay' ? page : frame, id)
    }
  })

  // proves F9
  test('a card is typed and sent by the keyboard alone', async () => {
    const { page, frame, told } = open()
    await page.focus('#name')
    await page.keyboard.press('Tab')
    await untilFocused(frame, 'number')
    for (const text of ['4242424242424242', '1131', '123']) {
      await page.keyboard.type(text)
      await page.keyboard.press(text === '123' ? 'Enter' : 'Tab')
    }
    expect(await told('submit')).toHaveLength(1)
    await page.keyboard.press('Tab')
    await untilFocused(page, 'pay')
    await page.keyboard.press('Enter')
    const paid = await page.evaluate(() => (globalThis as unknown as { paid: unknown }).paid)
    expect(paid).toMatchObject({ brand: 'visa' })
  })
}

const handTests = (open: () => Checkout) => {
  const call = ({ page }: Checkout, name: 'focus' | 'clear') =>
    page.evaluate(what => (globalThis as unknown as ShopPage).card[what](), name)

  test('empties the fields, and what is told of them', async () => {
    const checkout = open()
    await checkout.fill('4242424242424241', '13', '12')
    await checkout.tokenize()
    await call(checkout, 'clear')
    while ((await checkout.state()).brand !== 'unknown') await Bun.sleep(20)
    expect(await checkout.state()).toEqual({ complete: false, brand: 'unknown', errors: {} })
    expect([await checkout.values(), await checkout.errors()]).toEqual([
      ['', '', ''],
      ['', '', ''],
    ])
  })

  test('leads to the first field', async () => {
    const checkout = open()
    const { page, frame, values } = checkout
    await page.focus('#pay')
    await call(checkout, 'focus')
    await untilFocused(frame, 'number')
    await page.keyboard.type('42')
    expect((await values())[0]).toBe('42')
  })
}

const errorTests = (open: () => Checkout) => {
  test('a wrong number is told when it was left, and once it is right no more', async () => {
    const { page, frame, fill, errors, state } = open()
    await fill('4242424242424241', '', '')
    const wrong = 'This is no card number. Check its digits.'
    expect([await errors(), (await state()).errors]).toEqual([
      [wrong, '', ''],
      { number: 'invalid' },
    ])
    const invalid = () => frame.$eval('[name=number]', each => each.getAttribute('aria-invalid'))
    expect(await invalid()).toBe('true')
    await frame.focus('[name=number]')
    for (const key of ['End', 'Backspace', '2'] as const) await page.keyboard.press(key)
    expect([await errors(), await invalid()]).toEqual([['', '', ''], 'false'])
  })

  test('no token is made of half a card; the caret stays in its field', async () => {
    const { frame, fill, tokenize, errors } = open()
    await fill('4242424242424242', '13', '12')
    expect(await tokenize()).toEqual({
      code: 'invalid_card',
      message: 'the card is not complete, or wrong',
      fields: ['expiry', 'cvc'],
      status: 0,
      name: 'ElementsError',
      hasTrace: false,
    })
    expect(await focused(frame)).toBe('cvc')
    expect(await errors()).toEqual([
      '',
      'The month is from 01 to 12.',
      'Enter the whole security code.',
    ])
  })

  test('the first wrong field is led to, where the caret is in none', async () => {
    const { page, frame, tokenize } = open()
    await page.focus('#pay')
    await tokenize()
    expect(await focused(frame)).toBe('number')
  })

  // proves F6
  test('a date that is past is a hint, with which a token is made', async () => {
    const { fill, errors, state, tokenize } = open()
    await fill('4242424242424242', '0120', '123')
    expect((await errors())[1]).toBe('This date is past. Check month and year.')
    expect(await state()).toEqual({ complete: true, brand: 'visa', errors: { expiry: 'past' } })
    expect(await tokenize()).toMatchObject({ data: { expiration_year: 2020 } })
  })

  test('the code has as many digits as the brand says', async () => {
    const { fill, values, state, tokenize } = open()
    await fill('378282246310005', '1131', '12345')
    expect(await values()).toEqual(['3782 822463 10005', '11 / 31', '1234'])
    expect(await state()).toMatchObject({ complete: true, brand: 'amex' })
    expect(await tokenize()).toMatchObject({ brand: 'amex' })
  })
}

describe.each(browserNames)('in %s', name => {
  let checkout: Checkout
  beforeEach(async () => {
    checkout = await openCheckout(name, shop, vault)
  })
  const open = () => checkout
  describe('the caret', () => caretTests(open))
  describe('a paste', () => pasteTests(open, name))
  describe('the keyboard', () => keyboardTests(open))
  describe('an error', () => errorTests(open))
  describe('the page', () => handTests(open))
})
