/**
 * A card is typed in a shop: the vault gets it, and the page of the shop never has it.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import { browserNames } from './support/browsers.ts'
import {
  frameOf,
  openCheckout,
  openShopPage,
  type Checkout,
  type Made,
  type ShopPage,
} from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const number = '4000056655665556'
const grouped = '4000 0566 5566 5556'
const cvc = '739'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

/** Everything that a page could record if it wanted all it can get. */
interface Spying {
  seen: string[]
  keys: string[]
  MessageChannel: new () => { readonly port1: Listened }
}

interface Listened {
  addEventListener(name: string, listen: (event: never) => void, capture?: boolean): void
}

/** Notes every message that comes into a window, by its window or by a channel of its own. */
const spy = (page: Page) =>
  page.evaluateOnNewDocument(() => {
    const host = globalThis as unknown as Spying & Listened
    host.seen = []
    host.keys = []
    const note = ({ data }: { data: unknown }) => void host.seen.push(JSON.stringify(data))
    host.addEventListener('message', note, true)
    for (const name of ['keydown', 'beforeinput', 'input', 'paste']) {
      host.addEventListener(name, () => void host.keys.push(name), true)
    }
    const Native = host.MessageChannel
    host.MessageChannel = class extends Native {
      constructor() {
        super()
        this.port1.addEventListener('message', note)
      }
    }
  })

/** All texts that script of the page can come to: its document, and what its globals lead to. */
const everythingIn = (page: Page) =>
  page.evaluate(() => {
    const found: string[] = []
    const known = new Set<unknown>()
    const walk = (value: unknown, depth: number): void => {
      if (typeof value === 'string' || typeof value === 'number') found.push(String(value))
      if (typeof value !== 'object' || value === null || known.has(value) || depth === 0) return
      known.add(value)
      for (const name of Object.getOwnPropertyNames(value)) {
        try {
          walk((value as Record<string, unknown>)[name], depth - 1)
        } catch {
          // The frame is of another origin.
        }
      }
    }
    walk(globalThis, 6)
    const { document } = globalThis as unknown as {
      document: { documentElement: { outerHTML: string } }
    }
    return `${document.documentElement.outerHTML}\n${found.join('\n')}`
  })

/** Every message of the frame, as it has to be; heights aside. */
const messages = [
  { type: 'ready', height: expect.any(Number), title: 'Card details' },
  { type: 'change', state: { complete: false, brand: 'visa', errors: {} } },
  { type: 'change', state: { complete: true, brand: 'visa', errors: {} } },
  {
    type: 'made',
    call: 1,
    token: {
      id: expect.any(String),
      brand: 'visa',
      data: { number: 'XXXXXXXXXXXX5556', expiration_month: 11, expiration_year: 2031 },
    },
  },
]

describe.each(browserNames)('in %s', name => {
  let shop: Shop
  let checkout: Checkout
  let made: Made
  beforeAll(async () => {
    shop = openShop()
    checkout = await openCheckout(name, shop, vault, { before: spy })
    await checkout.fill(number, '1131', cvc)
    made = await checkout.tokenize({ metadata: { order: '17' } })
  })

  test('a typed card becomes a token, which the private key reveals', async () => {
    expect(checkout.mounted).toBe('ready')
    expect(await checkout.values()).toEqual([grouped, '11 / 31', cvc])
    expect(await checkout.state()).toEqual({ complete: true, brand: 'visa', errors: {} })
    const { type, data, metadata } = await vault.backend.tokens.get(made.id ?? '')
    expect({ type, data, metadata }).toEqual({
      type: 'card',
      data: { number, expiration_month: 11, expiration_year: 2031, cvc },
      metadata: { order: '17' },
    })
  })

  // proves S79
  test('the page of the shop sees no digit of it, nor does its server', async () => {
    const { page } = checkout
    const { seen, keys } = await page.evaluate(() => {
      const host = globalThis as unknown as Spying
      return { seen: host.seen, keys: host.keys }
    })
    const heard = seen.map(text => JSON.parse(text) as { readonly type: string })
    expect(heard.filter(({ type }) => type !== 'height')).toEqual(messages)
    expect(keys).toEqual([])
    const texts = `${await everythingIn(page)}\n${seen.join('\n')}\n${shop.asked.join('\n')}`
    const digits = texts.replaceAll(/[ -]/g, '')
    // Texts that are there are found, so a text that is not found is not there.
    const isThere = (text: string) => digits.includes(text)
    expect(['XXXXXXXXXXXX5556', number, number.slice(0, 12)].map(isThere)).toEqual([
      true,
      false,
      false,
    ])
    expect(shop.asked.length).toBeGreaterThan(2)
    for (const each of shop.asked) expect(each).toStartWith(`GET ${shop.origin}/`)
  })

  test('the key may be that of a session, asked for when it is needed', async () => {
    const { sessions } = createClient({ address: vault.address, key: vault.publicKey })
    const { nonce, session_key: key } = await sessions.create()
    const page = await openShopPage(name, shop)
    await page.evaluate(address => {
      const host = globalThis as unknown as ShopPage & { keys: string[]; asked: number }
      Object.assign(host, { keys: [], asked: 0 })
      const key = () => host.keys[host.asked++] ?? Promise.reject(new Error('no key'))
      return host.mount({ address, key })
    }, vault.address)
    const fields = frameOf(page, vault)
    await fields.focus('[name=number]')
    for (const text of [number, '1131', cvc]) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    const tokenize = (keys: readonly string[]) =>
      page.evaluate(given => {
        const host = globalThis as unknown as ShopPage & { keys: string[] }
        host.keys.push(...given)
        return host.tokenize()
      }, keys)
    expect(await tokenize([key])).toMatchObject({ code: 'key_refused', status: 403 })
    await vault.backend.sessions.authorize({ nonce, permissions: ['token:create'] })
    expect(await tokenize([key])).toMatchObject({ brand: 'visa' })
    expect(await tokenize([])).toMatchObject({ message: 'no key', name: 'Error' })
  })
})
