/**
 * The console in motion, against the compiled binary in Chromium: short waits show nothing, what
 * updates stays where it is, and one click too many changes nothing.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import { openConsole, press, unlock, waitForText, waitWithout } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

beforeAll(async () => {
  vault = await openVault()
})

/** Notes how each loading state looks when it is put into the page. */
const noteLoading = `
globalThis.loadings = []
new MutationObserver(() => {
  const seen = document.querySelector('.notice.loading')
  if (seen !== null) globalThis.loadings.push(getComputedStyle(seen).visibility)
}).observe(document, { subtree: true, childList: true })
`

/** Holds the answers to one path. @returns a function that lets them go */
async function hold(page: Page, path: string): Promise<() => void> {
  const held: (() => void)[] = []
  let isHeld = true
  await page.setRequestInterception(true)
  page.on('request', request => {
    const go = () => void request.continue()
    if (isHeld && new URL(request.url()).pathname.endsWith(path)) held.push(go)
    else go()
  })
  return () => {
    isHeld = false
    for (const go of held) go()
  }
}

test('a wait is told once it is long, and not before', async () => {
  const { page } = await openConsole(vault)
  await page.evaluate(noteLoading)
  const letGo = await hold(page, '/v2/tokens')
  await unlock(page, vault.privateKey)
  await page.waitForSelector('.notice.loading')
  expect(await page.evaluate('loadings[0]')).toBe('hidden')
  await page.waitForFunction(
    `getComputedStyle(document.querySelector('.notice.loading')).visibility === 'visible'`,
  )
  letGo()
  await waitForText(page, 'No tokens')
})

test('the overview keeps its place while its next answer is under way', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await waitForText(page, 'Keys and backups')
  await page.waitForSelector('.plot svg')
  const letGo = await hold(page, '/status')
  await page.waitForSelector('.given.stale')
  await waitForText(page, 'Keys and backups')
  letGo()
  await page.waitForFunction(`document.querySelector('.given.stale') === null`)
})

test('a double click asks, and Escape takes the question back', async () => {
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const { id } = await manager.applications.create({
    name: 'Kept',
    type: 'private',
    permissions: ['token:read'],
  })
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, 'Applications')
  await press(page, 'Kept')
  const button = '[aria-label="Revoke key 1"]'
  await page.waitForSelector(button)
  await page.click(button, { count: 2 })
  await waitForText(page, 'Whatever uses this key is refused at once, and it never works again.')
  const asked = await page.$eval('button.danger', each => each.getAttribute('aria-describedby'))
  expect(await page.$eval(`[id="${asked}"]`, each => each.textContent)).toStartWith('Whatever')
  await page.keyboard.press('Escape')
  await waitWithout(page, 'Revoke for good')
  expect(await manager.applications.keys.list(id)).toHaveLength(1)
})
