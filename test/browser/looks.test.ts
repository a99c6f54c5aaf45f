/**
 * Looks of the fields in pages of any scheme, language and width.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Frame, Page } from 'puppeteer-core'
import { browserNames, type BrowserName } from './support/browsers.ts'
import { checkoutIn, openShopPage, type Checkout, type ShopPage } from './support/checkout.ts'
import { findingsIn } from './support/findings.ts'
import { pixelAt } from './support/pixels.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

interface ShopLook {
  /** Style sheet of the page. */
  readonly css: string
  readonly lang?: string
  readonly width?: number
  readonly options?: object
}

/** A shop with a style of its own. */
const shopOf = ({ css, lang = 'en' }: ShopLook): Shop =>
  openShop({
    html: `<!doctype html><html lang="${lang}"><head><meta charset="utf-8"><title>Shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,"><style>${css}</style>
<script type="module" src="/shop.js"></script></head>
<body><main><h1>Checkout</h1><div id="card"></div>
<button id="pay" type="button">Pay</button></main></body></html>`,
  })

async function openLook(name: BrowserName, look: ShopLook): Promise<Checkout> {
  const shop = shopOf(look)
  const before = (page: Page) =>
    page.setViewport({ width: look.width ?? 480, height: 640, deviceScaleFactor: 1 })
  const page = await openShopPage(name, shop, { before })
  return checkoutIn(page, vault, look.options)
}

interface Styled {
  getBoundingClientRect(): Readonly<Record<'x' | 'y' | 'width' | 'height', number>>
}

interface StyledWindow {
  readonly document: { querySelector(selector: string): Styled }
  getComputedStyle(element: Styled): Readonly<Record<string, string>>
}

const colourOf = (frame: Frame, selector: string, member = 'color') =>
  frame.evaluate(
    (where, what) => {
      const { document, getComputedStyle } = globalThis as unknown as StyledWindow
      return getComputedStyle(document.querySelector(where))[what]
    },
    selector,
    member,
  )

const boxOf = (page: Page) =>
  page.evaluate(() => {
    const { document } = globalThis as unknown as StyledWindow
    const { x, y, width, height } = document.querySelector('iframe').getBoundingClientRect()
    return { x, y, width, height }
  })

/** Returns the colour between the fields of expiry and code, where the frame draws nothing. */
async function groundOf({ page }: Checkout): Promise<readonly number[]> {
  const { x, y, width, height } = await boxOf(page)
  return pixelAt(page, Math.round(x + width / 2), Math.round(y + height - 14))
}

const schemeOf = ({ frame }: Checkout) => colourOf(frame, 'html', 'colorScheme')

/** Waits for the scheme, which reaches the frame through the page. */
async function untilScheme(checkout: Checkout, scheme: string): Promise<void> {
  for (let waits = 0; waits < 2_000 && (await schemeOf(checkout)) !== scheme; waits += 1) {
    await Bun.sleep(50)
  }
  expect(await schemeOf(checkout)).toBe(scheme)
}

const dark = 'body { background: rgb(16, 20, 24); color: #eee; margin: 16px }'
const light = 'body { background: rgb(250, 245, 240); color: #222; margin: 16px }'
const [darkGround, lightGround] = [
  [16, 20, 24],
  [250, 245, 240],
]

const schemeTests = (name: BrowserName) => {
  // proves F11
  test.each([
    ['dark by its colours alone', dark, darkGround, 'dark'],
    ['dark by its scheme', `:root { color-scheme: dark } ${dark}`, darkGround, 'dark'],
    ['dark by a colour of CSS 4', `${dark} body { color: oklch(0.95 0 0) }`, darkGround, 'dark'],
    ['light by its colours alone', light, lightGround, 'light'],
    ['light by its scheme', `:root { color-scheme: light } ${light}`, lightGround, 'light'],
    ['of both schemes', `:root { color-scheme: light dark } ${light}`, lightGround, 'light'],
    ['dark around the fields alone', `${light} #card { color-scheme: dark }`, lightGround, 'dark'],
  ])('a page that is %s is seen through the frame', async (_, css, ground, scheme) => {
    const checkout = await openLook(name, { css })
    expect(checkout.mounted).toBe('ready')
    expect(await schemeOf(checkout)).toBe(scheme)
    expect(await groundOf(checkout)).toEqual(ground as number[])
  })

  test('texts are light on dark, and axe finds nothing there, with errors too', async () => {
    const checkout = await openLook(name, { css: dark, options: { cardholderName: true } })
    expect(await colourOf(checkout.frame, 'label')).toBe('rgb(229, 231, 235)')
    // axe sees no background through a frame, and takes it for white.
    await checkout.frame.$eval('body', body => {
      const { style } = body as unknown as { readonly style: { background: string } }
      style.background = 'rgb(16, 20, 24)'
    })
    expect(await findingsIn(checkout.page)).toEqual([])
    await checkout.tokenize()
    expect(await findingsIn(checkout.page)).toEqual([])
  })

  // proves F11
  test.each(['light', 'dark'] as const)('a page may say that it is %s', async colorScheme => {
    const [css, ground] = colorScheme === 'dark' ? [light, lightGround] : [dark, darkGround]
    const checkout = await openLook(name, { css, options: { colorScheme } })
    expect(await schemeOf(checkout)).toBe(colorScheme)
    expect(await groundOf(checkout)).toEqual(ground as number[])
  })
}

const changeTests = (name: BrowserName) => {
  // proves F11
  test('a page that becomes dark has dark fields, which stay as they were filled', async () => {
    const css = `${light} .dark body { background: rgb(16, 20, 24); color: #eee }`
    const checkout = await openLook(name, { css })
    await checkout.fill('4242424242424242', '1131', '123')
    await checkout.page.$eval('html', html => void html.setAttribute('class', 'dark'))
    await untilScheme(checkout, 'dark')
    expect(await groundOf(checkout)).toEqual(darkGround as number[])
    expect(await checkout.tokenize()).toMatchObject({ brand: 'visa' })
  })

  // proves E17.17
  test('styles and scheme change while somebody types, and wrong ones are told', async () => {
    const checkout = await openLook(name, { css: light })
    const { page, frame, fill, values, tokenize } = checkout
    const update = (change: object) =>
      page.evaluate(given => {
        const { card } = globalThis as unknown as ShopPage & {
          card: { update(change: object): void }
        }
        try {
          card.update(given)
          return 'updated'
        } catch (error) {
          return (error as Error).message
        }
      }, change)
    await fill('4242424242424242', '1131', '12')
    await update({ styles: { input: { color: 'rgb(1, 2, 3)' } }, colorScheme: 'dark' })
    await untilScheme(checkout, 'dark')
    expect(await colourOf(frame, '[name=cvc]')).toBe('rgb(1, 2, 3)')
    await update({ styles: { label: { fontSize: '18px' } } })
    for (let waits = 0; waits < 100; waits += 1) {
      if ((await colourOf(frame, 'label', 'fontSize')) === '18px') break
      await Bun.sleep(50)
    }
    // A style that the shop does not repeat falls back to its default.
    expect(await colourOf(frame, '[name=cvc]')).toBe('rgb(249, 250, 251)')
    await page.keyboard.type('3')
    expect(await values()).toEqual(['4242 4242 4242 4242', '11 / 31', '123'])
    expect(await update({ colorScheme: 'black' })).toStartWith('mountCard: colorScheme: expected')
    await update({ styles: { label: { color: 'url(a)' } } })
    const { code, message } = await tokenize()
    expect(code).toBe('invalid_options')
    expect(message).toStartWith('styles.label.color: expected a text')
  })
}

const languageTests = (name: BrowserName) => {
  const number = (frame: Frame) => frame.$eval('#number-label', each => each.textContent)

  // proves F12
  test.each([
    ['en', undefined, 'Card number', 'Enter the whole card number.'],
    ['de-CH', undefined, 'Kartennummer', 'Bitte geben Sie die ganze Kartennummer ein.'],
    ['en', 'fr', 'Numéro de carte', 'Saisissez le numéro de carte complet.'],
    ['en', 'es-MX', 'Número de tarjeta', 'Introduzca el número de tarjeta completo.'],
    ['ja', undefined, 'カード番号', 'カード番号を最後まで入力してください。'],
    ['xx"', undefined, 'Card number', 'Enter the whole card number.'],
  ])('a page in %s, with the option %s, has texts in its language', async (lang, locale, ...of) => {
    const options = locale === undefined ? {} : { locale }
    const checkout = await openLook(name, { css: light, lang: lang.replace('"', '_'), options })
    const { page, frame, tokenize, errors } = checkout
    await tokenize()
    expect([await number(frame), (await errors())[0]]).toEqual(of)
    const spoken = await frame.$eval('html', html => html.lang)
    const expected = lang.startsWith('xx') ? 'en' : (locale ?? lang)
    expect(spoken).toBe(expected)
    const title = await page.$eval('iframe', each => each.getAttribute('title'))
    expect(title).toBe(await frame.title())
  })

  test('a locale that is none, and an option that is none, are told', async () => {
    const { mounted } = await openLook(name, { css: light, options: { locale: 'de_DE' } })
    expect(mounted).toMatchObject({ code: 'invalid_options' })
    expect((mounted as { message: string }).message).toStartWith('mountCard: locale: expected')
    const other = await openLook(name, { css: light, options: { colourScheme: 'dark' } })
    expect((other.mounted as { message: string }).message).toStartWith(
      'mountCard: unknown option colourScheme: expected address, key, styles, colorScheme,',
    )
  })
}

const widthTests = (name: BrowserName) => {
  // proves F12
  test.each(['en', 'de', 'fr', 'es', 'ja'])('320 pixels are enough, in %s', async locale => {
    const css = 'body { margin: 16px }'
    const options = { locale, cardholderName: true }
    const checkout = await openLook(name, { css, width: 320, options })
    const { page, frame, fill } = checkout
    const widths = () =>
      [page, frame].map(each =>
        each.evaluate(() => {
          const { document } = globalThis as unknown as {
            document: {
              documentElement: { scrollWidth: number; clientWidth: number }
              querySelectorAll(selector: string): Iterable<{
                readonly id: string
                readonly scrollWidth: number
                readonly clientWidth: number
              }>
            }
          }
          const { scrollWidth, clientWidth } = document.documentElement
          const cut = [...document.querySelectorAll('input, label, .error, #brand')].filter(
            part => part.scrollWidth > part.clientWidth + 1,
          )
          return [scrollWidth > clientWidth, ...cut.map(({ id }) => id)]
        }),
      )
    const whole = [[false], [false]]
    expect(await Promise.all(widths())).toEqual(whole)
    await fill('4000000000000000006', '1331', '1')
    expect((await checkout.values())[0]).toBe('4000 0000 0000 0000 006')
    await checkout.tokenize()
    expect(await Promise.all(widths())).toEqual(whole)
    expect(await findingsIn(page)).toEqual([])
  })
}

// The driver of Firefox changes no preference.
test('in chrome, a page of both schemes has fields of that which the person prefers', async () => {
  const css = ':root { color-scheme: light dark } body { margin: 16px }'
  const checkout = await openLook('chrome', { css })
  expect(await schemeOf(checkout)).toBe('light')
  for (const value of ['dark', 'light'] as const) {
    await checkout.page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }])
    await untilScheme(checkout, value)
  }
})

describe.each(browserNames)('in %s', name => {
  schemeTests(name)
  changeTests(name)
  languageTests(name)
  widthTests(name)
})
