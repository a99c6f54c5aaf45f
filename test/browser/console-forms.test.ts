/**
 * Forms of the console say at the field what they miss, and take what a person means: against the
 * compiled binary in Chromium.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient, type Client } from '../../src/client/index.ts'
import {
  openConsole,
  pageText,
  press,
  unlock,
  waitForText,
  waitWithout,
  type OpenedConsole,
} from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let manager: Client

beforeAll(async () => {
  vault = await openVault()
  manager = createClient({ address: vault.address, key: vault.managementKey })
  const token = { type: 'token', data: 'kept' } as const
  await vault.backend.tokens.create({ ...token, id: 'in-north', containers: ['/shop/north/'] })
  await vault.backend.tokens.create({ ...token, id: 'in-south', containers: ['/shop/south/'] })
})

async function openAt(screen: string, key = vault.managementKey): Promise<OpenedConsole> {
  const opened = await openConsole(vault)
  await unlock(opened.page, key)
  await press(opened.page, screen)
  return opened
}

/** Resolves once the browser has refused the field and says why beside it. */
const waitForRefused = (page: Page, field: string) =>
  page.waitForSelector(`${field}:focus:user-invalid`)

const changesIn = ({ asked }: OpenedConsole, path: string): number =>
  asked.filter(url => url.endsWith(path)).length

test('an application without a name is not made, and the field is told', async () => {
  const opened = await openAt('Applications')
  const { page } = opened
  await press(page, 'New application')
  await page.type('#new-name', ' ')
  await press(page, 'Make application')
  await waitForRefused(page, '#new-name')
  expect(changesIn(opened, '/applications')).toBe(0)
  await page.click('label[for="new-permissions-token:read"]')
  await page.click('label[for="new-permissions-token:search"]')
  await waitForText(page, 'Choose at least one of them.')
})

test('a value is not shown without a reason, and the field is told', async () => {
  const { page } = await openAt('Tokens', vault.privateKey)
  await press(page, 'in-north')
  await press(page, 'Reveal')
  await page.waitForSelector('#reason:focus')
  await page.keyboard.type(' ')
  await page.keyboard.press('Enter')
  await waitForRefused(page, '#reason')
  expect(await pageText(page)).not.toContain('kept')
})

test('a replay takes a number, and Enter asks before it is sent', async () => {
  const url = 'https://hooks.invalid/coffer'
  const hook = await manager.webhooks.create({ name: 'Shop', url, events: ['token.created'] })
  const opened = await openAt('Webhooks')
  const { page } = opened
  await page.waitForSelector('form input')
  const replays = () => changesIn(opened, `${hook.id}/replay`)
  await press(page, 'Replay')
  await waitForRefused(page, 'form input')
  await page.keyboard.type('first')
  await page.keyboard.press('Enter')
  await waitForRefused(page, 'form input')
  await page.$eval('form input', each => (each as unknown as { select: () => void }).select())
  await page.keyboard.type('999999')
  await page.keyboard.press('Enter')
  await waitForText(page, 'Send all once more')
  expect(replays()).toBe(0)
  await page.keyboard.press('Escape')
  await waitWithout(page, 'Send all once more')
  await page.keyboard.press('Enter')
  await waitForText(page, 'Send all once more')
  // Below the line of its button, which stays where it was.
  const edge = (selector: string, side: 'top' | 'bottom') =>
    page.evaluate(`document.querySelector('${selector}').getBoundingClientRect().${side}`)
  const before = await edge('form button', 'top')
  await page.keyboard.press('Enter')
  await waitForText(page, 'Refused with 400')
  expect(replays()).toBe(1)
  expect(await edge('form button', 'top')).toBe(before)
  expect(Number(await edge('form .notice', 'top'))).toBeGreaterThan(
    Number(await edge('form button', 'bottom')),
  )
})

test('a container is found also without its first and last slash', async () => {
  const { key } = await manager.applications.create({
    name: 'Reader',
    type: 'private',
    permissions: ['token:read'],
  })
  const { page } = await openAt('Tokens', key)
  await waitForText(page, 'in-south')
  await page.type('#list-container', 'shop/north')
  await page.keyboard.press('Enter')
  await page.waitForFunction(`!document.querySelector('main').innerText.includes('in-south')`)
  await waitForText(page, 'in-north')
  expect(await page.$eval('#list-container', each => Reflect.get(each, 'value'))).toBe(
    '/shop/north/',
  )
})

test('the page of a token that was searched for leads back to what was found', async () => {
  const { page } = await openAt('Tokens', vault.privateKey)
  await press(page, 'in-north')
  await press(page, 'All tokens')
  await page.waitForSelector('#query')
  await page.type('#query', 'container:/shop/north/')
  await press(page, 'Find')
  await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
  await press(page, 'in-north')
  await press(page, 'Back to what was found')
  await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
  await press(page, 'All tokens')
  await waitForText(page, 'in-south')
})
