/**
 * Keys that may do a part of what the console can, against the compiled binary in Chromium: nothing
 * is offered that would be refused, and what is missing is told before the click.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import type { PermissionName } from '../../src/client/interface.ts'
import {
  expectClean,
  looks,
  openConsole,
  press,
  sideways,
  unlock,
  waitForText,
  type ConsoleLook,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { act, expectFocus, fill, tabTo } from './support/keyboard.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

beforeAll(async () => {
  vault = await openVault()
  const made = ['/shop/north/', '/shop/north/', '/shop/south/', '/stock/']
  for (const [index, container] of made.entries()) {
    const metadata = { order: String(index) }
    const token = { id: `in-${index}`, type: 'token', data: 'kept', metadata } as const
    await vault.backend.tokens.create({ ...token, containers: [container] })
  }
})

const manager = () => createClient({ address: vault.address, key: vault.managementKey })

async function keyOf(type: 'private' | 'management', ...permissions: PermissionName[]) {
  const { key } = await manager().applications.create({ name: 'Some', type, permissions })
  return key
}

async function openWith(key: string, look: ConsoleLook = {}) {
  const opened = await openConsole(vault, look)
  await unlock(opened.page, key)
  return opened
}

const rowsAre = (page: Page, count: number) =>
  page.waitForFunction(
    `document.querySelectorAll('.given:not(.stale) > table tbody tr').length === ${count}`,
  )

describe.each(looks)('a key that reads and may not search, $scheme and $width wide', look => {
  test('lists by containers, by metadata and by id, with the keyboard alone', async () => {
    const key = await keyOf('private', 'token:read')
    const opened = await openWith(key, look)
    const { page } = opened
    await expectFocus(page, 'h1', 'Tokens')
    await rowsAre(page, 4)
    await waitForText(page, 'it would need token:search')
    expect(await page.$('#query')).toBeNull()
    await act(page, 'Containers', 'Space')
    await waitForText(page, '3 tokens')
    // The name behind the button that opens what is below it.
    await tabTo(page, 'Below /shop/')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await rowsAre(page, 3)
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '.branches')).toEqual([])
    await press(page, 'Clear')
    await rowsAre(page, 4)
    await page.focus('h1')
    await fill(page, 'Metadata', 'order')
    await page.keyboard.press('Enter')
    await waitForText(page, 'Expected a name and its value, such as order:17.')
    await page.keyboard.type(':2')
    await page.keyboard.press('Enter')
    await rowsAre(page, 1)
    await tabTo(page, 'Type')
    await page.keyboard.type('card')
    await act(page, 'Filter')
    await waitForText(page, 'No token that this key may see fits all of these fields.')
    expect(opened.asked.filter(url => url.includes('search'))).toEqual([])
    await expectClean(opened, vault, [key])
  })
})

test('a key that searches and may not read finds, and leads to no refused page', async () => {
  const { page } = await openWith(await keyOf('private', 'token:search'))
  await rowsAre(page, 4)
  expect(await page.$$eval('.tree, tbody button', all => all.length)).toBe(0)
  await page.type('#query', 'metadata.order:2')
  await page.keyboard.press('Enter')
  await rowsAre(page, 1)
})

const screensIn = (page: Page, where: string) =>
  page.$$eval(`${where} nav a`, all => all.map(each => each.textContent))

describe.each(looks)('the screens of a key, $scheme and $width wide', look => {
  test('are its own in the head, and the others say what they take', async () => {
    const { page } = await openWith(await keyOf('management', 'log:read'), look)
    await expectFocus(page, 'h1', 'Log')
    expect(await screensIn(page, 'header')).toEqual(['Log'])
    expect(await screensIn(page, 'footer')).toContain('Overview')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'footer')).toEqual([])
    await act(page, 'Overview')
    await waitForText(page, 'This key lacks status:read')
  })
})

test('a session sees the tokens alone, and each key begins at a screen of its own', async () => {
  const { page } = await openWith(vault.managementKey)
  await expectFocus(page, 'h1', 'Overview')
  expect(await screensIn(page, 'footer')).toEqual(['Tokens'])
  await press(page, 'Lock')
  const headers = { 'SVC-API-KEY': vault.publicKey }
  const started = await fetch(`${vault.address}/sessions`, { method: 'POST', headers })
  await unlock(page, ((await started.json()) as { readonly session_key: string }).session_key)
  await expectFocus(page, 'h1', 'Tokens')
  expect(await screensIn(page, 'header')).toEqual(['Tokens'])
})

test('a manager who may look alone is told what a change takes', async () => {
  const key = await keyOf('management', 'application:read', 'session:read')
  const headers = { 'SVC-API-KEY': vault.publicKey }
  await fetch(`${vault.address}/sessions`, { method: 'POST', headers })
  const { page } = await openWith(key)
  await expectFocus(page, 'h1', 'Applications')
  expect(await page.$('.new')).toBeNull()
  await page.click('tbody button')
  await waitForText(
    page,
    'To change them it takes a key with application:update and access:explain.',
  )
  await waitForText(page, 'To see its keys it takes a key with key:read.')
  await press(page, 'Sessions')
  await waitForText(page, 'To end one it takes a key with session:delete.')
  expect(await page.$$eval('td button', all => all.length)).toBe(0)
})

describe.each(looks)('a new application, $scheme and $width wide', look => {
  test('is made with the keyboard alone, shows its key once, and is given rules', async () => {
    const opened = await openWith(vault.managementKey, look)
    const { page } = opened
    await press(page, 'Applications')
    await expectFocus(page, 'h1', 'Applications')
    await act(page, 'New application', 'Space')
    const name = `Desk ${look.width}`
    await fill(page, 'Name', name)
    await act(page, 'Make application')
    await waitForText(page, 'The new key, shown this once')
    const secret = await page.$eval('.secret', each => String(each.textContent))
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '.notice')).toEqual([])
    await act(page, 'Copy the new key')
    await waitForText(page, 'Copied')
    await act(page, 'I have copied it: see its page')
    await expectFocus(page, 'h1', name)
    await act(page, 'Change rules')
    await act(page, 'Add a rule')
    await act(page, 'Simulate')
    await waitForText(page, 'What saving would change')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'label')).toEqual([])
    await press(page, 'Save')
    await waitForText(page, 'Change rules')
    const seen = await createClient({ address: vault.address, key: secret }).tokens.get('in-0')
    expect(seen.id).toBe('in-0')
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(secret)
    await expectClean(opened, vault, [vault.managementKey, secret])
  })
})
