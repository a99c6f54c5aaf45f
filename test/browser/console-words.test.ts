/**
 * The console says reasons of the vault in words of people, and keeps their codes beside them:
 * against the compiled binary in Chromium.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { openConsole, press, unlock, waitForText } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

beforeAll(async () => {
  vault = await openVault()
  const headers = { 'svc-api-key': vault.privateKey }
  const { status } = await fetch(`${vault.address}/tokens`, { method: 'POST', headers, body: 'a' })
  expect(status).toBe(415)
  expect((await fetch(`${vault.address}/tokens/nothing`, { headers })).status).toBe(404)
})

async function open(screen: string): Promise<Page> {
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, screen)
  return page
}

test('refusals in the log and in the overview', async () => {
  const overview = await open('Overview')
  await waitForText(overview, '1 × wrong content type unsupported_media_type')
  await waitForText(overview, '1 × not found')
  const log = await open('Log')
  await log.type('#filter-operation', 'createToken')
  await log.keyboard.press('Enter')
  await waitForText(log, 'wrong content type unsupported_media_type')
})
