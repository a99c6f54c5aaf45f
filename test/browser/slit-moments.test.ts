/**
 * A page that shows the fields whole whenever something is drawn, and through a slit between.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { checkoutIn, openShopPage } from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const html = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Shop</title>
<link rel="icon" href="data:,"><script type="module" src="/shop.js"></script></head>
<body><main><div id="slit" style="overflow: hidden"><div id="wide"><div id="card"
style="width: 600px"></div></div></div></main><script>
globalThis.moved = []
globalThis.flicker = () => {
  const slit = document.querySelector('#slit')
  const wide = document.querySelector('#wide')
  const { port1, port2 } = new MessageChannel()
  const look = () => {
    if (slit.scrollLeft !== 0) moved.push(slit.scrollLeft)
    slit.scrollLeft = 0
  }
  port1.onmessage = () => {
    slit.style.width = '6px'
    wide.style.width = '2000px'
    slit.scrollLeft = 0
  }
  const draw = () => {
    look()
    slit.style.width = wide.style.width = ''
    port2.postMessage(0)
    requestAnimationFrame(draw)
  }
  draw()
}</script></body></html>`

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop({ html })
})

/** Far more than a picture takes, so that a page has read what it could. */
const settled = () => Bun.sleep(300)

// proves E17.19, S80, S83
test.each([
  ['number', '400005665566'],
  ['name', 'Willi'],
])('no key of the field %s moves a page that is a slit between pictures', async (at, text) => {
  const page = await openShopPage('chrome', shop)
  const { frame, values } = await checkoutIn(page, vault, { cardholderName: true })
  await frame.focus(`[name=${at}]`)
  await page.evaluate('flicker()')
  await settled()
  await page.evaluate('moved.splice(0)')
  for (const key of text) {
    await page.keyboard.type(key)
    await settled()
  }
  for (let each = 0; each < 2; each += 1) await page.keyboard.press('Backspace')
  await settled()
  expect(await page.evaluate('moved')).toEqual([])
  expect((await values()).join('').replaceAll(' ', '')).toBe(text.slice(0, -2))
})

test('a letter of two units is deleted as one', async () => {
  const page = await openShopPage('chrome', shop)
  const { frame, values } = await checkoutIn(page, vault, { cardholderName: true })
  await frame.focus('[name=name]')
  await page.keyboard.type('a\u{20000}b\u{20000}')
  await page.keyboard.press('Backspace')
  await page.keyboard.press('Home')
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('Delete')
  expect((await values()).join('')).toBe('ab')
})

test('a name that is longer than its field shows its end', async () => {
  const page = await openShopPage('chrome', shop)
  const styles = { input: { fontSize: '40px' } }
  const { frame } = await checkoutIn(page, vault, { cardholderName: true, styles })
  for (const name of ['Wilhelmina Wilhelmina Wilhelmina', 'محمد '.repeat(9)]) {
    await frame.$eval('[name=name]', each => {
      Object.assign(each, { value: '' })
    })
    await frame.focus('[name=name]')
    await page.keyboard.type(name)
    const hidden = await frame.$eval('[name=name]', each => {
      const field = each as unknown as Readonly<Record<string, number>>
      const { scrollLeft = 0, scrollWidth = 0, clientWidth = 0 } = field
      return [scrollWidth > clientWidth, scrollWidth - clientWidth - Math.abs(scrollLeft)]
    })
    expect(hidden[0]).toBe(true)
    expect(hidden[1]).toBeLessThanOrEqual(1)
  }
})
