/**
 * The example of a shop, as a reader would run it, and a customer use it.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { resolve } from 'node:path'
import type { Page } from 'puppeteer-core'
import { browserNames, openPage } from './support/browsers.ts'
import { frameOf } from './support/checkout.ts'
import { findingsIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const example = resolve(import.meta.dir, '../../examples/checkout/shop.ts')

const run = (vault: DevVault) =>
  Bun.spawn([process.execPath, example], {
    env: {
      PATH: process.env['PATH'],
      VAULT: vault.address,
      PUBLIC_KEY: vault.publicKey,
      PRIVATE_KEY: vault.privateKey,
      PORT: '0',
    },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })

let vault: DevVault
let shop: ReturnType<typeof run>
let address: string
beforeAll(async () => {
  vault = await openVault()
  shop = run(vault)
  const first = await shop.stdout.getReader().read()
  if (first.done) throw new Error(`the shop did not start: ${await shop.stderr.text()}`)
  address = new TextDecoder().decode(first.value).trim().split(' ').at(-1) ?? ''
})
afterAll(async () => {
  shop.kill()
  await shop.exited
})

const order = (body: unknown) =>
  fetch(`${address}/orders`, { method: 'POST', body: JSON.stringify(body) })

/** Waits until the page says something. */
async function outcomeOf(page: Page): Promise<string> {
  const texts = () => page.$eval('#outcome', each => each.textContent ?? '')
  while ((await texts()) === '') await Bun.sleep(50)
  return texts()
}

describe.each(browserNames)('a shop in %s', name => {
  test('charges a card that it never has', async () => {
    const page = await openPage(name)
    await page.goto(address)
    await page.waitForSelector('#pay:not([disabled])')
    await frameOf(page, vault).focus('[name=number]')
    for (const text of ['4000056655665556', '1131', '739', 'Ada Lovelace']) {
      await page.keyboard.type(text)
      await page.keyboard.press('Tab')
    }
    await page.click('#pay')
    expect(await outcomeOf(page)).toBe('19.99 from the card that ends in 5556')
    const kept = await (await fetch(`${address}/orders`)).text()
    expect(kept).toContain('"receipt":"19.99 from the card that ends in 5556"')
    expect(kept).not.toContain('400005')
  })

  test('is a page in which axe finds nothing, with errors too', async () => {
    const page = await openPage(name)
    await page.goto(address)
    await page.waitForSelector('#pay:not([disabled])')
    expect(await findingsIn(page)).toEqual([])
    await page.click('#pay')
    await outcomeOf(page)
    expect(await findingsIn(page)).toEqual([])
  })

  test('tells a customer whose card is not whole', async () => {
    const page = await openPage(name)
    await page.goto(address)
    await page.waitForSelector('#pay:not([disabled])')
    await page.click('#pay')
    expect(await outcomeOf(page)).toBe('Check the card.')
    const errors = await frameOf(page, vault).$$eval('.error', all => all.map(e => e.textContent))
    expect(errors[0]).toBe('Enter the whole card number.')
  })
})

test('a shop charges nothing without a token of a card', async () => {
  const { id } = await vault.backend.tokens.create({ type: 'token', data: 'a' })
  expect((await order({})).status).toBe(400)
  expect((await order({ card: 'absent' })).status).toBe(404)
  expect((await order({ card: id })).status).toBe(502)
})
