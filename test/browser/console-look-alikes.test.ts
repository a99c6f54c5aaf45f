/**
 * Stored texts that pass for others in the console, or push others out of the window, against the
 * compiled binary in Chromium.
 * @module
 */
import { beforeEach, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import { expectClean, openConsole, press, sideways, unlock } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeEach(async () => {
  vault = await openVault()
})

/** Marks and a blank as two scripts write them. */
const plain = 'รู้ที่\u3000山'

const rows = 'document.querySelectorAll("tbody tr").length'

const columnOf = (label: string) => `[...document.querySelectorAll('tbody [data-label="${label}"]')]
  .map(each => each.innerText.trim())`

test('texts that differ by blanks look different, and piled marks push nothing', async () => {
  const { tokens } = createClient({ address: vault.address, key: vault.publicKey })
  const ids = ['pay roll', 'pay  roll', 'pay\u00A0roll', 'pay\u2003roll', 'pay\u2800roll']
  const piled = `pile-Z${'\u0335\u0301\u0310\u036B'.repeat(60)}`
  for (const id of [...ids, piled, plain]) await tokens.create({ id, type: 'token', data: 'x' })
  await tokens.create({ id: 'pair', type: 'token', data: 'x', metadata: { a: ' one\ntwo ' } })
  const opened = await openConsole(vault)
  const { page } = opened
  await unlock(page, vault.privateKey)
  await page.waitForFunction(`${rows} === 8`)
  const shown = (await page.evaluate(columnOf('Id'))) as string[]
  expect(new Set(shown).size).toBe(8)
  expect(shown).toContain('pay roll')
  expect(shown).toContain('pay ⟨0020⟩roll')
  expect(shown).toContain('pay⟨00A0⟩roll')
  expect(shown).toContain(plain)
  expect(await page.evaluate(columnOf('Value'))).toContain('not shown\na: ⟨0020⟩one⟨000A⟩two⟨0020⟩')
  expect(await sideways(page)).toBe(0)
  await expectClean(opened, vault, [vault.privateKey])
})

test('data that is a number has no members', async () => {
  const body = '{"id":"number","type":"token","data":1.0,"mask":"{{ data }}"}'
  const headers = { 'SVC-API-KEY': vault.publicKey, 'content-type': 'application/json' }
  const made = await fetch(`${vault.address}/tokens`, { method: 'POST', headers, body })
  expect(made.status).toBe(201)
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await page.waitForFunction(`${rows} > 0`)
  expect(await page.evaluate(columnOf('Value'))).toContain('1.0')
})

test('the log names applications alone, and none by a name that is an id', async () => {
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const { tokens } = createClient({ address: vault.address, key: vault.publicKey })
  const [backend] = await Array.fromAsync(manager.applications.list({ type: ['private'] }))
  if (backend === undefined) throw new Error('a vault of dev has a backend')
  const disguised = await manager.applications.create({
    name: backend.id,
    type: 'public',
    permissions: ['token:create'],
  })
  await tokens.create({ id: backend.id, type: 'token', data: 'x' })
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, 'Log')
  await page.waitForFunction(`${columnOf('By')}.some(text => text.includes('Demo browser'))`)
  const about = (await page.evaluate(columnOf('About'))) as string[]
  expect(about).toContain(`token ${backend.id}`)
  expect(about).toContain(`application ${disguised.id}`)
  expect(about).not.toContain(`token ${backend.name}`)
})
