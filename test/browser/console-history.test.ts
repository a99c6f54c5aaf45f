/**
 * The history of a token beside its mask, by a second key that reads the log: against the compiled
 * binary in Chromium.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import {
  expectClean,
  looks,
  openConsole,
  pageText,
  press,
  reveal,
  sideways,
  unlock,
  waitForText,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let reading: string
/** A management key without `log:read`. */
let blind: string

const masked = 'XXXXXXXXXXXX4242'
// The newest entries are of these tests themselves.
const seen = 'getToken'

beforeAll(async () => {
  vault = await openVault()
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const permissions = ['token:read', 'token:search'] as const
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }] as const
  const make = manager.applications.create
  reading = (await make({ name: 'desk', type: 'private', rules })).key
  blind = (await make({ name: 'blind', type: 'management', permissions: ['application:read'] })).key
  await vault.backend.tokens.create({
    id: 'card-17',
    type: 'card_number',
    data: '4242424242424242',
  })
})

const lastOf = (url: string) => url.split('/').at(-1)

async function give(page: Page, key: string): Promise<void> {
  await page.waitForSelector('#log-key')
  await page.focus('#log-key')
  await page.keyboard.type(key)
  await page.keyboard.press('Enter')
}

async function openCard(page: Page): Promise<void> {
  await press(page, 'card-17')
  await waitForText(page, 'Management key for the log')
}

describe.each(looks)('a key that reads tokens, $scheme and $width wide', look => {
  test('sees the history beside the mask with a second key, by the keyboard alone', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, reading)
    await openCard(page)
    expect(await pageText(page)).not.toContain(seen)
    expect(await seriousIn(page, '#log-key')).toEqual([])
    expect(await sideways(page)).toBe(0)
    await give(page, vault.managementKey)
    await waitForText(page, seen)
    expect(await pageText(page)).toContain(masked)
    await reveal(page, 'Case 18')
    await waitForText(page, 'Reason: Case 18')
    await expectClean(opened, vault, [reading, vault.managementKey])
  })
})

test('a second key that may not read the log, is unknown or no key is told so', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, reading)
  await openCard(page)
  await give(page, blind)
  await waitForText(page, 'That key may not read the log either.')
  await page.waitForSelector('#log-key:focus')
  await give(page, `key_${'a'.repeat(22)}`)
  await waitForText(page, 'The vault does not take that key')
  await give(page, 'two words')
  await waitForText(page, 'Expected an API key')
  // The first key is as it was.
  expect(await pageText(page)).toContain(masked)
  expect(await pageText(page)).not.toContain(seen)
})

// proves S101
test('a second key that may not read the log is sent once, and forgotten', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, reading)
  await openCard(page)
  const keys: (string | undefined)[] = []
  page.on('request', request => {
    if (request.url().includes('/logs')) keys.push(request.headers()['svc-api-key'])
  })
  await give(page, blind)
  await waitForText(page, 'That key may not read the log either.')
  await press(page, 'All tokens')
  await openCard(page)
  expect(await pageText(page)).not.toContain('That key')
  expect(keys).toEqual([blind, reading])
})

const madeBy = `[...document.querySelectorAll('dl div')]
  .find(each => each.innerText.startsWith('Created by'))?.innerText`

test('a token names its application as soon as one of the keys may know the name', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, reading)
  await openCard(page)
  expect(await page.evaluate(madeBy)).toMatch(/^Created by\s+an application [\da-f-]{36}$/)
  // Its maker's newest entry is on the first page, whatever the other tests have read.
  await vault.backend.tokens.get('card-17')
  await give(page, vault.managementKey)
  await page.waitForFunction(`/Demo backend/.test(${madeBy})`)
  await waitForText(page, 'private Demo backend')
})

test('a second key that may not read applications is not refused their names', async () => {
  const make = createClient({ address: vault.address, key: vault.managementKey }).applications
  const { key } = await make.create({ name: 'Log', type: 'management', permissions: ['log:read'] })
  const opened = await openConsole(vault)
  const { page } = opened
  await unlock(page, reading)
  await openCard(page)
  await give(page, key)
  await waitForText(page, seen)
  // It asks what it holds itself, once, and nothing further.
  await press(page, 'All tokens')
  await press(page, 'card-17')
  await waitForText(page, seen)
  expect(opened.asked.filter(url => url.includes('/applications')).map(lastOf)).toEqual([
    'key',
    'key',
  ])
  expect(await page.evaluate(madeBy)).toContain('an application')
})

test('a key knows the name of its own application', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await openCard(page)
  expect(await page.evaluate(madeBy)).toMatch(/^Created by\s+Demo backend$/)
})

test('the second key is forgotten with the first', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, reading)
  await openCard(page)
  await give(page, vault.managementKey)
  await waitForText(page, seen)
  await press(page, 'Lock')
  await unlock(page, reading)
  await openCard(page)
  expect(await pageText(page)).not.toContain(seen)
})
