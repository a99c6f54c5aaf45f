/**
 * The console's screens of applications, their rules and their keys, against the compiled binary.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient, type Client } from '../../src/client/index.ts'
import {
  drawn,
  expectClean,
  holdNext,
  looks,
  openConsole,
  pageText,
  press,
  sideways,
  unlock,
  waitForText,
  type ConsoleLook,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let manager: Client
let desk: { readonly id: string; readonly key?: string }

beforeEach(async () => {
  vault = await openVault()
  manager = createClient({ address: vault.address, key: vault.managementKey })
  for (let index = 0; index < 4; index += 1) {
    await vault.backend.tokens.create({ id: `mail-${index}`, type: 'email', data: 'a@b.example' })
  }
  desk = await manager.applications.create({
    name: 'Support <b>desk</b>',
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }],
  })
})

async function openDesk(look: ConsoleLook = {}) {
  const opened = await openConsole(vault, look)
  await unlock(opened.page, vault.managementKey)
  await press(opened.page, 'Applications')
  await press(opened.page, 'Support <b>desk</b>')
  await waitForText(opened.page, 'Change rules')
  return opened
}

/** By the keyboard, as a person does. */
async function choose(page: Page, selector: string, first: string): Promise<void> {
  await page.focus(selector)
  await page.keyboard.type(first)
}

describe.each(looks)('a manager, $scheme and $width wide', look => {
  test('simulates a wider rule, sees the counts, and saves it', async () => {
    const opened = await openDesk(look)
    const { page } = opened
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'dl')).toEqual([])
    await press(page, 'Change rules')
    await choose(page, '#rule-0-transform', 'rev')
    expect(await page.$$eval('button', all => all.length)).toBeGreaterThan(3)
    await press(page, 'Simulate')
    await waitForText(page, 'What saving would change')
    expect((await pageText(page)).replaceAll(/\s+/g, ' ')).toContain('token:read mask → reveal: 4')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '#plain-permissions')).toEqual([])
    expect((await manager.applications.get(desk.id)).rules[0]?.transform).toBe('mask')
    await press(page, 'Save')
    await press(page, 'Reveal 4 tokens')
    await waitForText(page, 'Change rules')
    expect((await manager.applications.get(desk.id)).rules[0]?.transform).toBe('reveal')
    await expectClean(opened, vault, [vault.managementKey])
  })
})

test('what was not simulated cannot be saved, and a wrong rule is told', async () => {
  const { page } = await openDesk()
  await press(page, 'Change rules')
  await waitForText(page, 'Rules are tried from the smallest priority up')
  const isSaveable = () =>
    page.evaluate(`![...document.querySelectorAll('button')]
      .find(each => each.innerText === 'Save').disabled`)
  expect(await isSaveable()).toBe(false)
  await press(page, 'Simulate')
  await waitForText(page, 'No stored token would be shown differently.')
  expect(await isSaveable()).toBe(true)
  await page.click('label[for="rule-0-permissions-token:search"]')
  expect(await isSaveable()).toBe(false)
  await press(page, 'Simulate')
  await page.waitForFunction(`!document.querySelector('.stale')`)
  expect(await isSaveable()).toBe(true)
  await page.type('#rule-0-container', 'pci')
  await press(page, 'Simulate')
  await waitForText(page, 'rules[0].container: expected')
  expect(await isSaveable()).toBe(false)
})

test('a count that comes too late is not shown for other rules', async () => {
  const { page } = await openDesk()
  await press(page, 'Change rules')
  const held = await holdNext(page, request => request.url().endsWith('/access/simulate'))
  await page.select('#rule-0-transform', 'reveal')
  await press(page, 'Simulate')
  await held.asked()
  await page.select('#rule-0-transform', 'mask')
  await press(page, 'Simulate')
  await waitForText(page, 'No stored token would be shown differently.')
  await held.release()
  await page.select('#rule-0-transform', 'reveal')
  await drawn(page)
  expect(await pageText(page)).toContain('Simulate these rules before saving them.')
  expect(await pageText(page)).not.toContain('What saving would change')
})

test('a new key is shown once, and the one before can be revoked', async () => {
  const { page } = await openDesk()
  await press(page, 'Make one more key')
  await waitForText(page, 'The new key, shown this once')
  const made = String(
    await page.$eval('.secret', each => (each as unknown as { innerText: string }).innerText),
  )
  expect(made).toMatch(/^key_/)
  await press(page, 'All applications')
  await press(page, 'Support <b>desk</b>')
  await waitForText(page, 'key 2')
  expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(made)
  await page.evaluate(`document.querySelector('[aria-label="Revoke key 1"]').click()`)
  await press(page, 'Revoke for good')
  await page.waitForFunction(`!document.body.innerText.includes('key 1')`)
  const old = await fetch(`${vault.address}/applications/key`, {
    headers: { 'SVC-API-KEY': String(desk.key) },
  })
  expect(old.status).toBe(401)
})

test('a key that may not read applications is told so', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await press(page, 'Applications')
  await waitForText(page, 'This key lacks application:read')
  expect(await seriousIn(page, '.notice')).toEqual([])
})
