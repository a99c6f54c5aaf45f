/**
 * A vault that cannot be reached: the frame is not seen, and the page is told.
 * @module
 */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { findPort } from '../support/free-port.ts'
import { browserNames } from './support/browsers.ts'
import { checkoutIn, mount, openShopPage, type ShopPage } from './support/checkout.ts'
import { openShop, type Shop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let shop: Shop
let vault: DevVault
beforeAll(async () => {
  shop = openShop()
  vault = await openVault()
})

const isSeen = async (page: Page) => (await page.$('iframe'))?.isVisible()

const errorsIn = async (page: Page) => {
  const told = await page.evaluate(() => (globalThis as unknown as ShopPage).told)
  return told.filter(([name]) => name === 'error').map(([, error]) => error)
}

/** Returns true if the frame was ever visible while the work was under way. */
async function seenWhile(page: Page, work: Promise<unknown>): Promise<boolean> {
  let isOver = false
  void work.finally(() => (isOver = true))
  let wasSeen = false
  while (!isOver) {
    wasSeen ||= (await isSeen(page)) === true
    await Bun.sleep(50)
  }
  return wasSeen
}

describe.each(browserNames)('in %s', name => {
  let page: Page
  beforeEach(async () => {
    page = await openShopPage(name, shop)
  })

  // proves F15
  test('no page of the browser is seen where no vault answers, and the page is told', async () => {
    const address = `http://127.0.0.1:${findPort()}`
    const mounting = mount(page, { address, key: 'key_a', timeoutMs: 1_500 })
    expect(await seenWhile(page, mounting)).toBe(false)
    expect(await mounting).toMatchObject({ code: 'no_frame' })
    expect(await isSeen(page)).toBe(false)
    expect(await errorsIn(page)).toMatchObject([{ code: 'no_frame' }])
  })

  // proves F15
  test('fields that are refused are not seen, and the page is told', async () => {
    const styles = { input: { color: 'url(a)' } }
    const { address, publicKey: key } = vault
    const mounted = await mount(page, { address, key, styles })
    expect(mounted).toMatchObject({ code: 'invalid_options' })
    expect(await isSeen(page)).toBe(false)
    expect(await errorsIn(page)).toMatchObject([{ code: 'invalid_options' }])
  })

  test('fields that are destroyed are no error, and those that are there are seen', async () => {
    await checkoutIn(page, vault)
    expect(await isSeen(page)).toBe(true)
    await page.evaluate(() => (globalThis as unknown as ShopPage).card.destroy())
    expect(await errorsIn(page)).toEqual([])
  })
})

// Firefox fires no event for a frame that loaded before and now finds no server.
test('in chrome, fields that the page moves are seen no more where the vault is gone', async () => {
  const page = await openShopPage('chrome', shop)
  const closing = await openVault()
  await checkoutIn(page, closing, { timeoutMs: 6_000 })
  expect(await isSeen(page)).toBe(true)
  await closing.stop()
  await page.evaluate(() => {
    const { document } = globalThis as unknown as {
      document: {
        querySelector(selector: string): unknown
        body: { append(node: unknown): void }
      }
    }
    document.body.append(document.querySelector('iframe'))
  })
  while ((await errorsIn(page)).length === 0) await Bun.sleep(50)
  expect(await isSeen(page)).toBe(false)
  expect(await errorsIn(page)).toMatchObject([{ code: 'no_frame' }])
})
