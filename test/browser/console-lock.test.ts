/**
 * The lock of the console: a key and what it has shown are in the memory of one sitting alone.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import {
  expectClean,
  openConsole,
  pageText,
  press,
  reveal,
  unlock,
  waitForText,
} from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
const shown = 'shown-to-the-desk'

beforeAll(async () => {
  vault = await openVault()
  await vault.backend.tokens.create({ id: 'seen', type: 'token', data: shown })
})

async function openToken() {
  const opened = await openConsole(vault)
  await unlock(opened.page, vault.privateKey)
  await press(opened.page, 'seen')
  await reveal(opened.page)
  await waitForText(opened.page, shown)
  return opened
}

/** Expects a locked console with nothing of the sitting in its document. */
async function expectLocked(page: Page): Promise<void> {
  await page.waitForSelector('#key')
  const all = (await page.evaluate('document.documentElement.outerHTML')) as string
  expect(all).not.toContain(shown)
  expect(all).not.toContain(vault.privateKey)
  expect(await page.$eval('#key', field => (field as unknown as { value: string }).value)).toBe('')
}

describe('the console locks, and shows nothing more', () => {
  // proves S101
  test('by its button', async () => {
    const opened = await openToken()
    await press(opened.page, 'Lock')
    await expectLocked(opened.page)
    await waitForText(opened.page, 'Locked.')
    // Nothing went wrong.
    await opened.page.waitForSelector('#key[aria-invalid=false]')
    await expectClean(opened, vault, [vault.privateKey, shown])
  })

  test('on the page of a token, which opens again at the list', async () => {
    const { page } = await openToken()
    await press(page, 'Lock')
    await unlock(page, vault.privateKey)
    await page.waitForFunction(`document.querySelector('h1').innerText === 'Tokens'`)
    await waitForText(page, 'seen')
    await press(page, 'seen')
    await press(page, 'Lock')
    // Also a key that opens no screen.
    await unlock(page, vault.publicKey)
    await waitForText(page, 'This key lacks token:read')
  })

  // proves S101
  test('after ten idle minutes, and not before', async () => {
    const { page } = await openToken()
    await page.evaluate('skewMs = 9.9 * 60_000; dispatchEvent(new Event("wheel"))')
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    expect(await pageText(page)).toContain(shown)
    await page.evaluate('skewMs += 10 * 60_000')
    await page.evaluate('document.dispatchEvent(new Event("visibilitychange"))')
    await expectLocked(page)
    expect(await pageText(page)).toContain('Locked after ten idle minutes.')
  })

  test('after a sleep of the machine, before the first key press counts', async () => {
    const { page } = await openToken()
    await page.evaluate('skewMs = 8 * 60 * 60_000')
    await page.keyboard.press('Tab')
    await expectLocked(page)
  })

  test('on reload, also with the address of a token', async () => {
    const { page } = await openToken()
    await page.reload()
    await expectLocked(page)
    expect(page.url()).toBe(`${vault.address}/console#/token`)
  })

  // proves S101
  test('when it is left, and the way back leads to a locked one', async () => {
    const { page } = await openToken()
    await page.goto(`${vault.address}/elements/card`)
    await page.goBack()
    await expectLocked(page)
    await page.goBack()
    await expectLocked(page)
  })

  test('at once when the page is hidden for good, as one that a browser keeps is', async () => {
    const { page } = await openToken()
    await page.evaluate('dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))')
    const all = (await page.evaluate('document.documentElement.outerHTML')) as string
    expect(all).not.toContain(shown)
    await expectLocked(page)
  })

  // proves S101
  test('when the vault no longer takes the key', async () => {
    const manager = createClient({ address: vault.address, key: vault.managementKey })
    const made = await manager.applications.create({
      name: 'Leaver',
      type: 'private',
      permissions: ['token:read'],
    })
    const { page } = await openConsole(vault)
    await unlock(page, made.key)
    await waitForText(page, 'seen')
    await manager.applications.delete(made.id)
    await press(page, 'seen')
    await waitForText(page, 'The vault does not take this key')
    await expectLocked(page)
  })
})

describe('the door', () => {
  test.each(['key_wrong', 'two words', ''])('stays closed to the key %p', async key => {
    const opened = await openConsole(vault)
    await opened.page.type('#key', key)
    await opened.page.keyboard.press('Enter')
    await opened.page.waitForFunction(`document.querySelector('#key-fault').innerText !== ''`)
    await expectLocked(opened.page)
    expect(opened.complaints).toEqual([])
  })

  test('says so where no vault answers', async () => {
    const own = await openVault()
    const { page } = await openConsole(own)
    await own.stop()
    await page.type('#key', own.privateKey)
    await page.keyboard.press('Enter')
    await waitForText(page, 'The vault did not answer')
  })

  test('asks browsers to remember no key', async () => {
    const { page } = await openConsole(vault)
    const facts = await page.$eval('#key', field => {
      const { type, autocomplete, name } = field as unknown as Record<string, string>
      return [type, autocomplete, name]
    })
    expect(facts).toEqual(['password', 'off', ''])
  })
})

describe('below a base path', () => {
  test.each(['/console', '/console/'])('it works at %s', async path => {
    const below = await openVault('--base-path', '/vault/v1')
    await below.backend.tokens.create({ id: 'seen', type: 'token', data: shown })
    const opened = await openConsole(below)
    await opened.page.goto(`${below.address}${path}`)
    await unlock(opened.page, below.privateKey)
    await press(opened.page, 'seen')
    await reveal(opened.page)
    await waitForText(opened.page, shown)
    await expectClean(opened, below, [below.privateKey, shown])
  })
})
