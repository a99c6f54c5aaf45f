/**
 * A field of which a page hides a little, where its caret is; and a number that a person drags.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { browserNames } from './support/browsers.ts'
import { checkoutIn, openShopPage, type Checkout } from './support/checkout.ts'
import { openShop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

/** The field of the code ends 700 pixels from the left of what the slit shows. */
const html = `<!doctype html><html lang="en"><head><meta charset="utf-8">
<title>Shop</title><link rel="icon" href="data:,"><script type="module" src="/shop.js"></script>
</head><body><main><div id="slit" style="width: 606px; height: 400px; overflow: scroll;
scrollbar-width: none"><div style="width: 2000px; padding: 100px">
<div id="card" style="width: 600px"></div></div></div></main></body></html>`

/** The field of the code ends at the edge of a box that cuts off what does not fit. */
const fractions = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,"><script type="module" src="/shop.js"></script></head>
<body style="margin: 7.3px"><div style="display: flex; width: 893px"><div style="flex: 1">Pay</div>
<div style="width: 57.333%; overflow: hidden; padding: 0.37px"><div id="card"></div></div></div>
</body></html>`

/** Takes whatever is dropped on it. */
const dropping = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,"><script type="module" src="/shop.js"></script></head>
<body style="height: 1000px"><div id="card"></div><script>globalThis.dropped = []
for (const name of ['dragenter', 'dragover', 'drop']) addEventListener(name, event => {
  event.preventDefault()
  if (name === 'drop') dropped.push(event.dataTransfer.getData('text/plain'))
})</script></body></html>`

/** The caret is at the very end. */
const styles = {
  input: { textAlign: 'right', paddingRight: '0', paddingLeft: '0', borderWidth: '0' },
}

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

/** Waits until the browser has told what is seen, and has scrolled. */
const settled = () => Bun.sleep(400)

/** Scrolls back, as the page may do after each key. @returns where it was */
const hide = ({ page }: Checkout, px: number) =>
  page.$eval(
    '#slit',
    (each, left) => {
      const slit = each as unknown as { scrollLeft: number }
      const { scrollLeft } = slit
      slit.scrollLeft = left
      return scrollLeft
    },
    94 - px,
  )

describe.each(browserNames)('in %s', name => {
  // proves E17.19, S80
  test.each([1, 2])('no key moves a page that hides %d pixels of the end', async px => {
    const page = await openShopPage(name, openShop({ html }))
    const checkout = await checkoutIn(page, vault, { styles })
    await checkout.frame.$eval('[name=cvc]', each =>
      (each as unknown as { focus(options: object): void }).focus({ preventScroll: true }),
    )
    await hide(checkout, px)
    await settled()
    const moved: number[] = []
    // The field is brought into sight once, by the first key.
    for (const key of ['7', '3', '9', 'Backspace'] as const) {
      await page.keyboard.press(key)
      await settled()
      moved.push(await hide(checkout, px))
      await settled()
    }
    expect(moved.slice(1)).toEqual([94 - px, 94 - px, 94 - px])
    expect((await checkout.values()).join('')).toBe('73')
  })

  test('a field at fractions of pixels counts as seen: a word is deleted at once', async () => {
    const page = await openShopPage(name, openShop({ html: fractions }))
    const checkout = await checkoutIn(page, vault)
    await settled()
    await checkout.frame.click('[name=cvc]')
    await page.keyboard.type('737')
    await page.keyboard.down('Control')
    await page.keyboard.press('Backspace')
    await page.keyboard.up('Control')
    expect((await checkout.values()).join('')).toBe('')
  })

  // proves E17.21, S79
  test('a number that is dragged out of its field tells the page nothing', async () => {
    const page = await openShopPage(name, openShop({ html: dropping }))
    const checkout = await checkoutIn(page, vault)
    await checkout.fill('4000056655665556', '1131', '739')
    const { x: left = 0, y: top = 0 } = (await (await page.$('iframe'))?.boundingBox()) ?? {}
    const at = await checkout.frame.$eval('[name=number]', each => {
      const field = each as unknown as { getBoundingClientRect(): { x: number; y: number } }
      const { x, y } = field.getBoundingClientRect()
      return { x, y }
    })
    const [x, y] = [left + at.x + 40, top + at.y + 20]
    await page.mouse.click(x, y, { count: 3 })
    await page.mouse.move(x, y)
    await page.mouse.down()
    for (let step = 1; step <= 20; step += 1) await page.mouse.move(x, y + step * 15)
    await page.mouse.up()
    await settled()
    expect(await page.evaluate('dropped')).toEqual([])
    expect((await checkout.values())[0]).toBe('4000 0566 5566 5556')
  })
})
