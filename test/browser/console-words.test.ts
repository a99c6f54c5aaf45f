/**
 * The console says reasons of the vault in words of people, and keeps their codes beside them:
 * against the compiled binary in Chromium.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import { openConsole, press, unlock, waitForText } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

interface Boxed {
  getBoundingClientRect(): { readonly top: number }
}

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
  await waitForText(log, 'wrong content type')
  await waitForText(log, 'unsupported_media_type')
})

test('who asked about the access of which application, and what let them', async () => {
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const { id } = await manager.applications.create({
    name: 'Desk',
    type: 'private',
    permissions: ['token:read'],
  })
  await manager.access.simulate({
    application_id: id,
    proposed: { permissions: ['token:search'], rules: [] },
  })
  await vault.backend.tokens.create({ id: 'mail', type: 'email', data: 'a@b.example' })
  const log = await open('Log')
  await log.type('#filter-operation', 'simulateAccess')
  await log.keyboard.press('Enter')
  await waitForText(log, 'access Desk')
  await waitForText(log, 'by access:explain')
  await press(log, 'Clear')
  await waitForText(log, 'by rule 0')
})

test('the fault of one filter of the log leaves its field in line with the others', async () => {
  const log = await open('Log')
  await log.type('#filter-actor_id', 'nobody')
  await log.keyboard.press('Enter')
  await waitForText(log, 'This key can look up no application of exactly this name')
  const tops = (await log.$$eval('.filters input', all =>
    all.map(each => (each as unknown as Boxed).getBoundingClientRect().top),
  )) as number[]
  expect(tops).toHaveLength(5)
  expect(new Set(tops.slice(0, 3)).size).toBe(1)
  const [last, button] = await log.$$eval('.filters :is(#filter-start_date, .primary)', all =>
    all.map(each => (each as unknown as Boxed).getBoundingClientRect().top),
  )
  expect(Math.abs(Number(last) - Number(button))).toBeLessThan(1)
})
