/**
 * A key on the page of the interface: it stays in the memory of the page alone. Chromium with a
 * profile of its own, which is read once the browser has ended.
 * @module
 */
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'puppeteer-core'
import { temporaryFolder } from '../support/folders.ts'
import { launchKeeping, openPage } from './support/browsers.ts'
import { openShop } from './support/shop.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

const authorized = '.btn.authorize.locked'

async function openField(browser: Browser) {
  const page = await browser.newPage()
  await page.goto(`${vault.address}/swagger`)
  await page.waitForSelector('.btn.authorize')
  await page.click('.btn.authorize')
  return { page, field: await page.waitForSelector('.modal-ux input') }
}

/** Types the key as a person does, Enter included, by which browsers keep what was typed. */
async function authorize(browser: Browser): Promise<Page> {
  const { page, field } = await openField(browser)
  await field?.type(vault.privateKey)
  await page.keyboard.press('Enter')
  await page.waitForFunction(`document.querySelector('.modal-ux').innerText.includes('******')`)
  await page.click('.modal-ux .btn-done')
  await page.waitForSelector(authorized)
  return page
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(path => statSync(path, { throwIfNoEntry: false })?.isFile() === true)

// proves S78
test('a browser keeps no key that is typed there', async () => {
  const profile = temporaryFolder()
  const browser = await launchKeeping(profile)
  await authorize(browser)
  // Its end writes all that it keeps.
  await browser.close()
  const files = filesIn(profile)
  expect(files.some(path => path.endsWith('Web Data'))).toBe(true)
  expect(files.filter(path => readFileSync(path).includes(vault.privateKey))).toEqual([])
})

// proves S78
test('its field shows no key, and suggests none', async () => {
  const { field } = await openField(await launchKeeping())
  const facts = await field?.evaluate(each => {
    const { type, autocomplete } = each as unknown as Readonly<Record<string, string>>
    return { type, autocomplete }
  })
  expect(facts).toEqual({ type: 'password', autocomplete: 'off' })
})

// proves S78
test('the way back leads to a page without the key', async () => {
  const page = await authorize(await launchKeeping())
  await page.goto(`${vault.address}/elements/card`)
  await page.goBack()
  await page.waitForSelector('.btn.authorize')
  expect(await page.$$(authorized)).toHaveLength(0)
})

// proves S78
test('a page that opens it has no hold of its window', async () => {
  const page = await openPage('chrome')
  await page.goto(openShop({ html: '<!doctype html><title>Foreign</title>' }).origin)
  await page.evaluate(`globalThis.opened = open('${vault.address}/swagger'); undefined`)
  // A page behind another one is not drawn, so it looks by the clock.
  await page.waitForFunction('opened.closed', { polling: 100, timeout: 20_000 })
})
