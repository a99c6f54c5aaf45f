/**
 * Pages that want the card: what they try with the frame, its messages, styles and texts.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Frame, Page } from 'puppeteer-core'
import { browserNames, type BrowserName } from './support/browsers.ts'
import {
  checkoutIn,
  frameOf,
  mount,
  openCheckout,
  openShopPage,
  type Checkout,
  type Facts,
} from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const number = '4000056655665556'
const card = [number, '1131', '739'] as const

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

/** The part of a window that a hostile page uses. */
interface Hostile {
  readonly document: {
    querySelector(selector: string): { readonly contentWindow: Hostile } | null
  }
  readonly frames: readonly Hostile[]
  readonly parent: Hostile
  postMessage(message: unknown, origin: string, ports?: readonly MessagePort[]): void
}

interface ByHand {
  readonly messages?: readonly object[]
  /** Number of answers to wait for, beside heights; or a second, if there should be none. */
  readonly answers: number
}

/** Greets a frame by hand. @returns all that comes back */
const greetByHand = (page: Pick<Page, 'evaluate'>, greeting: unknown, byHand: ByHand) =>
  page.evaluate(
    async (hello, { messages = [], answers }) => {
      const { document } = globalThis as unknown as Hostile
      const window = document.querySelector('iframe')?.contentWindow
      const { port1, port2 } = new MessageChannel()
      const heard: { readonly type: string; readonly failure?: Facts }[] = []
      port1.onmessage = ({ data }: { readonly data: (typeof heard)[number] }) => {
        if (data.type !== 'height') heard.push(data)
      }
      window?.postMessage(hello, '*', [port2])
      for (const message of messages) port1.postMessage(message)
      for (let waits = 0; heard.length < answers || (answers === 0 && waits < 10); waits += 1) {
        await new Promise(resolve => setTimeout(resolve, 100))
      }
      return heard
    },
    greeting,
    byHand,
  )

const greeting = { coffer: 'card', styles: {}, colorScheme: 'light', labels: {} }

const colourOf = (frame: Frame, selector: string) =>
  frame.$eval(selector, element => {
    const { getComputedStyle } = globalThis as unknown as {
      getComputedStyle(element: unknown): Readonly<Record<string, string>>
    }
    return getComputedStyle(element)['color']
  })

const messageTests = (name: BrowserName, open: () => Checkout) => {
  // proves E17.2, S84
  test('a second greeting is not heard, nor what is sent with it', async () => {
    const { page, fill } = open()
    await fill(...card)
    const call = { call: 1, key: vault.publicKey, request: {}, timeoutMs: 1_000 }
    const messages = [{ type: 'tokenize', ...call }]
    const heard = await greetByHand(page, greeting, { messages, answers: 0 })
    expect(heard).toEqual([])
  })

  // proves E17.1, S84
  test('another frame of the page is not heard, also before the page has greeted', async () => {
    const advertisement = openShop({ html: '<!doctype html><title>Advertisement</title>' })
    const both = `${rawPage(vault.address)}<iframe src="${advertisement.origin}"></iframe>`
    const page = await openShopPage(name, openShop({ html: both }))
    const other = await page.waitForFrame(frame => frame.url().startsWith(advertisement.origin))
    const heard = await other.evaluate(async hello => {
      const { parent } = globalThis as unknown as Hostile
      const { port1, port2 } = new MessageChannel()
      const all: unknown[] = []
      port1.onmessage = ({ data }: { readonly data: unknown }) => void all.push(data)
      parent.frames[0]?.postMessage(hello, '*', [port2])
      await new Promise(resolve => setTimeout(resolve, 500))
      return all
    }, greeting)
    expect(heard).toEqual([])
    const [ready] = await greetByHand(page, greeting, { answers: 1 })
    expect(ready?.type).toBe('ready')
  })

  // proves E17.8
  test('messages of any form get no digit, and break nothing', async () => {
    const messages = [
      { type: 'tokenize' },
      { type: 'tokenize', call: 2, key: 17, request: {}, timeoutMs: 1 },
      { type: 'tokenize', call: 3, key: 'k', request: [], timeoutMs: 1 },
      { type: 'tokenize', call: 4, key: 'k', request: { id: '{{ data.cvc }}' }, timeoutMs: 1 },
      { type: 'tokenize', call: 5, key: 'k', request: {}, timeoutMs: 1e9 },
      { type: 'digits' },
      { type: '__proto__' },
      null,
      'tokenize',
    ] as object[]
    const raw = openShop({ html: rawPage(vault.address) })
    const hostile = await openShopPage(name, raw)
    const heard = await greetByHand(hostile, greeting, { messages, answers: 6 })
    const failed = heard.filter(({ type }) => type === 'failed')
    expect(failed.map(({ failure }) => failure?.code)).toEqual(Array(5).fill('invalid_request'))
    expect(heard.every(({ type }) => ['ready', 'failed'].includes(type))).toBe(true)
  })
}

const ancestorTests = (name: BrowserName) => {
  // proves E17.3, S82
  test('a page of the origin of the vault, which could read the fields, gets none', async () => {
    const same = openShop({ html: rawPage('/vault'), mounts: vault.address })
    const page = await openShopPage(name, same)
    const [refused] = await greetByHand(page, greeting, { answers: 1 })
    expect(refused).toMatchObject({ type: 'refused', failure: { code: 'origin_not_allowed' } })
  })

  // proves E17.20, S82
  test('nor does one with a foreign frame between it and the fields', async () => {
    const between = openShop({ html: '<!doctype html><title>Between</title>' })
    const html = `<!doctype html><html data-begun><title>Above</title>
      <link rel="icon" href="data:,"><iframe src="${between.origin}"></iframe>`
    const above = openShop({ html, host: 'vault.localhost', mounts: vault.address })
    const page = await openShopPage(name, above)
    const middle = await page.waitForFrame(frame => frame.url().startsWith(between.origin))
    const greetBelow = async (address: string) => {
      const fields = `${address}/elements/card`
      await middle.setContent(`<iframe src="${fields}"></iframe>`)
      await middle.waitForFunction('document.readyState === "complete"')
      const [answer] = await greetByHand(middle, greeting, { answers: 1 })
      return answer
    }
    const failure = { code: 'origin_not_allowed' }
    expect(await greetBelow(`${above.origin}/vault`)).toMatchObject({ type: 'refused', failure })
    expect(await greetBelow(vault.address)).toMatchObject({ type: 'ready' })
  })
}

/** A page that frames the fields without our script. */
const rawPage = (address: string) => `<!doctype html><html data-begun><title>Other</title>
<link rel="icon" href="data:,"><iframe src="${address}/elements/card"></iframe></html>`

const styleTests = (open: () => Page) => {
  test('styles of a shop are applied', async () => {
    const styles = {
      input: { color: 'rgb(1, 2, 3)', 'border-radius': '0' },
      label: { color: '#040506', 'font-family': '"Helvetica Neue", Arial' },
      invalid: { color: 'rgb(7 8 9)' },
    }
    const { frame, tokenize } = await checkoutIn(open(), vault, { styles })
    expect(await colourOf(frame, '[name=number]')).toBe('rgb(1, 2, 3)')
    expect(await colourOf(frame, 'label')).toBe('rgb(4, 5, 6)')
    await tokenize()
    expect(await colourOf(frame, '[name=number]')).toBe('rgb(7, 8, 9)')
  })

  // proves E17.6, S85
  test('styles that could do more refuse the fields, all of them', async () => {
    const hostile = [
      ['styles.input.background-color', { input: { 'background-color': 'url(http://evil/a)' } }],
      ['styles.input.position', { input: { color: 'red', position: 'fixed' } }],
      ['styles.input[value^="4"]', { 'input[value^="4"]': { color: 'red' } }],
      ['styles', 'input { color: red }'],
    ] as const
    for (const [place, styles] of hostile) {
      const refused = await mount(open(), { address: vault.address, key: 'key_a', styles })
      const message = expect.stringContaining(`${place}: expected `) as string
      expect(refused).toMatchObject({ code: 'invalid_options', message })
    }
  })
}

const labelTests = (open: () => Page) => {
  // proves E17.7, S85
  test('labels of a shop are texts, whatever is in them', async () => {
    const labels = { number: '<img src=x onerror=alert(1)>', language: 'de', frame: 'Karte' }
    const { page, frame } = await checkoutIn(open(), vault, { labels })
    const shown = await frame.$eval('#number-label', each => [each.textContent, each.innerHTML])
    expect(shown).toEqual([labels.number, '&lt;img src=x onerror=alert(1)&gt;'])
    expect(await frame.$('img')).toBeNull()
    expect(await frame.$eval('html', each => each.getAttribute('lang'))).toBe('de')
    expect(await page.$eval('iframe', each => each.getAttribute('title'))).toBe('Karte')
  })

  test('labels that are none refuse the fields', async () => {
    for (const [place, labels] of [
      ['labels.innerHTML', { innerHTML: 'a' }],
      ['labels.language', { language: 'de" onload="' }],
      ['labels', 'a'],
    ] as const) {
      const refused = await mount(open(), { address: vault.address, key: 'key_a', labels })
      const message = expect.stringContaining(`${place}: expected `) as string
      expect(refused).toMatchObject({ code: 'invalid_options', message })
    }
  })
}

const frameTests = (open: () => Page) => {
  // proves S79
  test('the page cannot look into the frame', async () => {
    const { page } = await checkoutIn(open(), vault)
    const looks = await page.evaluate(() => {
      const { document } = globalThis as unknown as Hostile
      const window = document.querySelector('iframe')?.contentWindow
      try {
        return typeof window?.document
      } catch (error) {
        return (error as Error).name
      }
    })
    expect(looks).toBe('SecurityError')
    expect(frameOf(page, vault).url()).toBe(`${vault.address}/elements/card`)
  })

  // proves E17.11
  test('texts that a browser has kept of a visit before are not in the fields', async () => {
    const raw = openShop({ html: rawPage(vault.address) })
    const page = open()
    await page.goto(raw.origin)
    const frame = await page.waitForFrame(each => each.url().startsWith(vault.address))
    await frame.$eval('[name=number]', input => Object.assign(input, { value: '4242' }))
    const [ready] = await greetByHand(page, greeting, { answers: 1 })
    expect(ready?.type).toBe('ready')
    expect(await frame.$eval('[name=number]', input => (input as { value?: string }).value)).toBe(
      '',
    )
  })

  test('fields that the page moves are empty, and begin anew', async () => {
    const { page, fill, state } = await checkoutIn(open(), vault)
    await fill(...card)
    await page.evaluate(() => {
      const { document } = globalThis as unknown as {
        document: {
          querySelector(selector: string): unknown
          body: { append(node: unknown): void }
        }
      }
      document.body.append(document.querySelector('iframe'))
    })
    while ((await state()).brand === 'visa') await Bun.sleep(50)
    expect(await state()).toEqual({ complete: false, brand: 'unknown', errors: {} })
    const again = await page.evaluate(async () => {
      const { tokenize } = globalThis as unknown as { tokenize(): Promise<Facts> }
      return (await tokenize()).code
    })
    expect(again).toBe('invalid_card')
  })
}

describe.each(browserNames)('in %s', name => {
  describe('by messages', () => {
    let checkout: Checkout
    beforeEach(async () => {
      checkout = await openCheckout(name, shop, vault)
    })
    messageTests(name, () => checkout)
  })
  describe('from above', () => ancestorTests(name))
  describe('by what it may set', () => {
    let page: Page
    beforeEach(async () => {
      page = await openShopPage(name, shop)
    })
    styleTests(() => page)
    labelTests(() => page)
    frameTests(() => page)
  })
})
