/**
 * Facts that a page learns by how far a browser scrolls it, where it shows the fields through a
 * slit.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { browserNames } from './support/browsers.ts'
import { checkoutIn, openShopPage, type Checkout } from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,"><script type="module" src="/shop.js"></script></head>
<body><main><div id="slit" style="width: 40px; height: 30px; overflow: scroll">
<div style="width: 2000px; padding: 500px"><div id="card" style="width: 600px"></div></div>
</div></main></body></html>`

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop({ html })
})

/** Waits until the browser has told what is seen, and has scrolled. */
const settled = () => Bun.sleep(500)

/** Waits until the browser has told the frame that all of the number is seen, or that it is not. */
const told = ({ frame }: Checkout, isSeen: boolean) =>
  frame.evaluate(`new Promise(resolve => {
  const threshold = Array.from({ length: 101 }, (_, at) => at / 100)
  const take = ([{ intersectionRatio }]) => (intersectionRatio > 0.99) === ${isSeen} && resolve()
  new IntersectionObserver(take, { threshold }).observe(document.querySelector('[name=number]'))
})`)

const scrolledTo = ({ page }: Checkout) =>
  page.$eval('#slit', each => {
    const { scrollLeft, scrollTop } = each as unknown as Readonly<Record<string, number>>
    return [scrollLeft, scrollTop]
  })

const open = ({ page }: Checkout) =>
  page.$eval('#slit', each => {
    Object.assign((each as unknown as { style: object }).style, { width: '', height: '' })
  })

/** Lets the page see the same fields as before, and no more of them. */
const close = ({ page }: Checkout) =>
  page.$eval('#slit', each => {
    const slit = each as unknown as { style: object }
    Object.assign(slit.style, { width: '40px', height: '30px' })
    Object.assign(slit, { scrollLeft: 0, scrollTop: 0 })
  })

describe.each(browserNames)('in %s', name => {
  // proves E17.19, S80, S83
  test.each([
    ['number', '4242'],
    ['cvc', '123'],
    ['name', 'Wil'],
  ])('no key of the field %s moves a page that shows it through a slit', async (at, text) => {
    const page = await openShopPage(name, shop)
    const checkout = await checkoutIn(page, vault, { cardholderName: true })
    await checkout.frame.focus(`[name=${at}]`)
    await settled()
    const before = await scrolledTo(checkout)
    for (const key of text) {
      await page.keyboard.type(key)
      await settled()
      expect(await scrolledTo(checkout)).toEqual(before)
    }
    expect((await checkout.values()).join('')).toBe(text)
    for (const key of ['Home', 'End', 'ArrowLeft', 'Backspace'] as const) {
      await page.keyboard.press(key)
      await settled()
      expect(await scrolledTo(checkout)).toEqual(before)
    }
    expect((await checkout.values()).join('')).toBe(text.slice(0, -1))
  })

  // proves E17.19, S80
  test('a slit that closes behind a number shows not how long it is', async () => {
    const at = async (number: string) => {
      const page = await openShopPage(name, shop)
      const checkout = await checkoutIn(page, vault)
      await open(checkout)
      await checkout.frame.focus('[name=number]')
      await told(checkout, true)
      await page.keyboard.type(number)
      // The last key scrolls while all is seen, and not once the slit has closed.
      await settled()
      await close(checkout)
      await told(checkout, false)
      await page.evaluate(() => {
        const { card } = globalThis as unknown as { card: { focus(): void } }
        card.focus()
      })
      await settled()
      for (const key of ['Home', 'End'] as const) await page.keyboard.press(key)
      await settled()
      return scrolledTo(checkout)
    }
    expect(await at('4242 4242 42')).toEqual(await at('4'))
  })

  test('digits have one width, whatever a shop asks for', async () => {
    const page = await openShopPage(name, shop)
    const styles = { input: { fontVariantNumeric: 'proportional-nums' } }
    const { mounted } = await checkoutIn(page, vault, { styles })
    expect(mounted).toMatchObject({ code: 'invalid_options' })
  })
})
