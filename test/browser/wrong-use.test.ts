/**
 * Wrong use of the card fields: each has an error that says what to do, and repeats no key.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { atEnd } from '../support/at-end.ts'
import { findPort } from '../support/free-port.ts'
import { browserNames } from './support/browsers.ts'
import {
  checkoutIn,
  mount,
  openShopPage,
  type Checkout,
  type Facts,
  type ShopPage,
} from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const card = ['4242424242424242', '1131', '123'] as const
const secret = 'key_secret_that_nobody_prints'

let vault: DevVault
let shop: Shop
beforeAll(async () => {
  vault = await openVault()
  shop = openShop()
})

const optionTests = (open: () => Page) => {
  test.each([
    ['no key', { key: undefined }, 'expected the key of a public application or a session'],
    ['a key that can be none', { key: `${secret}\n` }, 'expected the key of a public'],
    ['no address', { address: undefined }, 'expected an address such as'],
    ['an address without a scheme', { address: 'vault.example' }, 'expected an address such as'],
    ['an address with a key', { address: `http://a/?${secret}` }, 'expected an address such as'],
    ['one with a password', { address: `http://:${secret}@a` }, 'expected an address such as'],
    ['a time that is none', { timeoutMs: -1 }, 'expected timeoutMs'],
  ])('%s', async (_, options, expected) => {
    const { address, publicKey: key } = vault
    const { code, message, name } = (await mount(open(), { address, key, ...options })) as Facts
    expect([name, code]).toEqual(['ElementsError', 'invalid_options'])
    expect(message).toStartWith(`mountCard: ${expected}`)
    expect(message).not.toContain(secret)
  })

  test('an element that is not there, and a selector that is none', async () => {
    for (const target of ['#absent', '#', 'p{']) {
      const code = await open().evaluate(async given => {
        const { mountCard } = (await import(`${location.origin}/elements.js`)) as {
          mountCard(target: string, options: object): unknown
        }
        try {
          mountCard(given, { address: 'http://127.0.0.1:1', key: 'key_a' })
          return 'mounted'
        } catch (error) {
          return (error as Facts).code
        }
      }, target)
      expect(code).toBe('invalid_options')
    }
  })
}

const holdingTests = (open: () => Page) => {
  const codeOf = (options: 'none' | 'a function in it') =>
    open().evaluate(
      async (what, address) => {
        const { mountCard } = (await import(`${location.origin}/elements.js`)) as {
          mountCard(target: string, options?: object): { readonly ready: Promise<void> }
        }
        const styles = { input: { color: () => 'red' } }
        const options = what === 'none' ? [] : [{ address, key: 'key_a', styles }]
        try {
          await mountCard('#card', ...options).ready
          return 'ready'
        } catch (error) {
          return (error as Facts).code
        }
      },
      options,
      vault.address,
    )

  test('no options, and such as no message can hold', async () => {
    expect(await codeOf('none')).toBe('invalid_options')
    expect(await codeOf('a function in it')).toBe('invalid_options')
  })
}

declare const location: { readonly origin: string }

const frameTests = (open: () => Page) => {
  // proves F17
  test('an address where no vault is, and a vault that is closed', async () => {
    const gone = await openVault()
    await gone.stop()
    const addresses = [
      gone.address,
      `http://127.0.0.1:${findPort()}`,
      `${vault.address}/beside`,
      openShop().origin,
    ]
    for (const address of addresses) {
      const mounted = (await mount(open(), { address, key: secret, timeoutMs: 1_500 })) as Facts
      expect(mounted.code).toBe('no_frame')
      for (const what of ['address is wrong', 'vault is closed', 'content security policy']) {
        expect(mounted.message).toContain(what)
      }
      expect(mounted.message).not.toContain(secret)
    }
  }, 300_000)

  test('nothing, where the fields come while it is asked what keeps them', async () => {
    const areThere = Promise.withResolvers<void>()
    const slow = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { pathname } = new URL(request.url)
        if (pathname === '/elements/card') await Bun.sleep(1_200)
        if (pathname === '/elements/origin') await areThere.promise
        return fetch(vault.address + pathname, request)
      },
    })
    atEnd(() => slow.stop(true))
    const behind = { ...vault, address: slow.url.origin }
    const checkout = await checkoutIn(open(), behind, { timeoutMs: 1_000 })
    expect(checkout.mounted).toBe('ready')
    areThere.resolve()
    await Bun.sleep(500)
    await checkout.fill(...card)
    expect(await checkout.tokenize()).toMatchObject({ brand: 'visa' })
  })

  test('a vault that closes while the fields are there', async () => {
    const closing = await openVault()
    const checkout = await checkoutIn(open(), closing, { timeoutMs: 6_000 })
    await checkout.fill(...card)
    await closing.stop()
    expect(await checkout.tokenize()).toMatchObject({ code: 'unavailable', status: 0 })
  })
}

const keyTests = (open: () => Page) => {
  const tokenizeWith = async (key: string): Promise<Facts> => {
    const checkout = await checkoutIn(open(), vault, { key })
    expect(checkout.mounted).toBe('ready')
    await checkout.fill(...card)
    return (await checkout.tokenize()) as Facts
  }

  // proves F17
  test('a key that is none of the vault', async () => {
    const { code, message, status, hasTrace } = await tokenizeWith(secret)
    expect([code, status, hasTrace]).toEqual(['key_refused', 401, true])
    expect(message).toBe(
      'the vault refused the key (401): expected a live API key in the header SVC-API-KEY, ' +
        'and not in Authorization',
    )
  })

  test('a key that may make no token', async () => {
    const { code, message, status } = await tokenizeWith(vault.managementKey)
    expect([code, status]).toEqual(['key_refused', 403])
    expect(message).toContain('token:create')
  })
}

const requestTests = (open: () => Checkout) => {
  test('members beside the card that the vault refuses', async () => {
    const { fill, tokenize } = open()
    await fill(...card)
    const refused = await tokenize({ metadata: { order: '4242424242424242' } })
    expect(refused).toMatchObject({ code: 'invalid_request', status: 400, hasTrace: true })
    expect(await tokenize({ containers: ['nowhere'] })).toMatchObject({ code: 'invalid_request' })
  })

  // proves E17.5, S86
  test('a member by which the page could come to a digit', async () => {
    const { fill, tokenize } = open()
    await fill(...card)
    const hostile = [
      { id: '{{ data.cvc }}' },
      { mask: '{{ data.number }}', metadata: { a: 'b' } },
      { fingerprint_expression: '{{ data.cvc }}' },
      { search_indexes: ['{{ data.number }}'] },
      { data: { cvc: '{{ data.number }}' } },
      { type: 'token' },
    ]
    for (const request of hostile) {
      const { code, status, message } = await tokenize(request)
      expect([code, status]).toEqual(['invalid_request', 0])
      expect(message).toBe(
        'a token may be given metadata, containers, expires_at, deduplicate_token alone',
      )
    }
  })

  test('a request that no message can hold makes no token, and the next one does', async () => {
    const { page, fill, tokenize } = open()
    await fill(...card)
    const refused = await page.evaluate(() => {
      const { tokenize } = globalThis as unknown as ShopPage
      return tokenize({ metadata: { order: () => '17' } })
    })
    expect(refused).toMatchObject({ code: 'invalid_request', status: 0 })
    expect(await tokenize()).toMatchObject({ brand: 'visa' })
  })
}

const endTests = (open: () => Checkout) => {
  test('fields that were destroyed', async () => {
    const { page, tokenize } = open()
    const waiting = page.evaluate(() => (globalThis as unknown as ShopPage).tokenize())
    await waiting
    const gone = await page.evaluate(() => {
      const { card, tokenize } = globalThis as unknown as ShopPage
      const under = tokenize()
      card.destroy()
      return under
    })
    expect(gone).toMatchObject({ code: 'destroyed' })
    expect(await tokenize()).toMatchObject({ code: 'destroyed' })
    expect(page.frames()).toHaveLength(1)
  })

  test('two calls at once are one, and make one token', async () => {
    const { page, fill } = open()
    await fill(...card)
    const [same, first, second] = await page.evaluate(async () => {
      const { card } = globalThis as unknown as {
        card: { tokenize(): Promise<{ id: string }> }
      }
      const calls = [card.tokenize(), card.tokenize()] as const
      const [one, two] = await Promise.all(calls)
      return [calls[0] === calls[1], one.id, two.id] as const
    })
    expect([same, first === second]).toEqual([true, true])
  })
}

describe.each(browserNames)('in %s', name => {
  describe('no fields are mounted for', () => {
    let page: Page
    beforeAll(async () => {
      page = await openShopPage(name, shop)
    })
    optionTests(() => page)
    holdingTests(() => page)
  })
  describe('an error tells of', () => {
    let page: Page
    beforeEach(async () => {
      page = await openShopPage(name, shop)
    })
    frameTests(() => page)
    keyTests(() => page)
  })
  describe('a token is not made with', () => {
    let checkout: Checkout
    beforeEach(async () => {
      checkout = await checkoutIn(await openShopPage(name, shop), vault)
    })
    requestTests(() => checkout)
    endTests(() => checkout)
  })
})
