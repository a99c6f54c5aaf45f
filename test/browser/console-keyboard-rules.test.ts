/**
 * Screens of the console on which a manager changes something, by the keyboard alone, as in
 * `console-keyboard.test.ts`.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient, type Client } from '../../src/client/index.ts'
import { waitForText, waitWithout } from './support/console.ts'
import { act, expectFocus, fill, openAsManager, tabBackTo, tabTo } from './support/keyboard.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let manager: Client

beforeAll(async () => {
  vault = await openVault()
  manager = createClient({ address: vault.address, key: vault.managementKey })
  await vault.backend.tokens.create({ id: 'mail-1', type: 'email', data: 'a@b.example' })
})

async function openDesk(name: string): Promise<{ readonly page: Page; readonly id: string }> {
  const { id } = await manager.applications.create({
    name,
    type: 'private',
    rules: [{ priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }],
  })
  const page = await openAsManager(vault, 'Applications')
  await waitForText(page, name)
  await act(page, name)
  await page.waitForFunction(`document.querySelector('h1').innerText === '${name}'`)
  await expectFocus(page, 'h1', name)
  await waitForText(page, 'Change rules')
  await waitForText(page, 'Make one more key')
  return { page, id }
}

test('applications: pages and one of them', async () => {
  for (let index = 0; index < 20; index += 1) {
    const name = `many ${index}`
    await manager.applications.create({ name, type: 'private', permissions: ['token:read'] })
  }
  const page = await openAsManager(vault, 'Applications')
  await waitForText(page, 'many 19')
  await act(page, 'Older')
  await waitForText(page, 'Page 2')
  await waitWithout(page, 'many 19')
  await act(page, 'Newer', 'Space')
  await waitForText(page, 'many 19')
  await expectFocus(page, 'h1', 'Applications')
  await act(page, 'many 19')
  await page.waitForFunction(`document.querySelector('h1').innerText === 'many 19'`)
  await expectFocus(page, 'h1', 'many 19')
  await tabBackTo(page, 'All applications')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'h1', 'Applications')
})

test('rules of an application: change, add, remove, simulate, leave and save', async () => {
  const { page, id } = await openDesk('Rules desk')
  await act(page, 'Change rules')
  await expectFocus(page, 'h2', 'Rules')
  await act(page, 'Add a rule', 'Space')
  await waitForText(page, 'rule 1')
  await expectFocus(page, 'button', 'Add a rule')
  await tabBackTo(page, 'Remove rule 1')
  await page.keyboard.press('Space')
  await waitWithout(page, 'rule 1')
  await expectFocus(page, 'h2', 'Rules')
  await act(page, 'Cancel')
  await expectFocus(page, 'h2', 'Rules')
  await act(page, 'Change rules', 'Space')
  await fill(page, 'Priority', '2')
  await tabTo(page, 'Shows')
  await page.keyboard.press('ArrowDown')
  await act(page, 'Simulate', 'Space')
  await waitForText(page, 'What saving would change')
  await expectFocus(page, 'button', 'Simulate')
  await act(page, 'The ids', 'Space')
  await waitForText(page, 'mail-1')
  await expectFocus(page, 'summary', 'The ids')
  await tabBackTo(page, 'Save')
  await page.keyboard.press('Space')
  await expectFocus(page, 'button', 'Reveal 1 tokens')
  await page.keyboard.press('Space')
  await waitForText(page, 'Change rules')
  await expectFocus(page, 'h2', 'Rules')
  const [rule] = (await manager.applications.get(id)).rules
  expect(rule).toMatchObject({ priority: 2, transform: 'reveal' })
})

test('keys of an application: one more, and the end of one', async () => {
  const { page } = await openDesk('Keys desk')
  await act(page, 'Make one more key')
  await waitForText(page, 'key 2')
  await expectFocus(page, 'p', 'The new key, shown this once')
  await act(page, 'I have copied it')
  await expectFocus(page, 'h2', 'Keys')
  await tabTo(page, 'Make one more key')
  await tabBackTo(page, 'Revoke key 1')
  await page.keyboard.press('Space')
  await expectFocus(page, 'button', 'Revoke for good key 1')
  // A step away from the question takes it back.
  await tabTo(page, 'Revoke key 2')
  await tabBackTo(page, 'Revoke key 1')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'button', 'Revoke for good key 1')
  await page.keyboard.press('Enter')
  await waitWithout(page, 'key 1')
  await expectFocus(page, 'h2', 'Keys')
})

test('sessions: the end of one, and of the last', async () => {
  for (let count = 0; count < 2; count += 1) {
    await fetch(`${vault.address}/sessions`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': vault.publicKey },
    })
  }
  const page = await openAsManager(vault, 'Sessions')
  for (let count = 0; count < 2; count += 1) {
    await page.waitForSelector('tbody tr')
    const end = String(await page.evaluate(`document.querySelector('td button').ariaLabel`))
    await act(page, end, 'Space')
    await expectFocus(page, 'button', end.replace('End', 'End it now'))
    await page.keyboard.press('Space')
    await waitWithout(page, end.replace('End session ', ''))
    await expectFocus(page, 'h1', 'Sessions')
  }
  await waitForText(page, 'No sessions')
})

test('webhooks: test, replay, look again', async () => {
  await manager.webhooks.create({
    name: 'Shop',
    url: 'https://hooks.invalid/coffer',
    events: ['token.created'],
  })
  const page = await openAsManager(vault, 'Webhooks')
  await waitForText(page, 'Look again')
  await act(page, 'Send a test event to Shop', 'Space')
  await waitForText(page, 'A test event is on its way.')
  await expectFocus(page, 'button', 'Send a test event to Shop')
  await fill(page, 'Send all again, from entry number', '0')
  await act(page, 'Replay', 'Space')
  await expectFocus(page, 'button', 'Send all once more')
  await page.keyboard.press('Space')
  await waitForText(page, 'All from that entry on are on their way once more.')
  await expectFocus(page, 'button', 'Replay')
  await act(page, 'Look again')
  await expectFocus(page, 'button', 'Look again')
})

test('expressions: each field, the type and the result', async () => {
  const page = await openAsManager(vault, 'Expressions')
  await waitForText(page, 'Found by a search for data')
  await tabTo(page, 'Type')
  await page.keyboard.type('email')
  await fill(page, 'Sample data', 'ada@example.com')
  await fill(page, 'Mask', '{{ data | upcase }}')
  await fill(page, 'Id', 'sample-1')
  await fill(page, 'Search indexes', '{{ data }}')
  await fill(page, 'Fingerprint expression', '{{ data | downcase }}')
  await fill(page, 'Metadata', '{"order": "17"}')
  await waitForText(page, 'ADA@EXAMPLE.COM')
  await waitForText(page, 'sample-1')
  await expectFocus(page, 'textarea', 'Metadata')
  await tabTo(page, 'Value')
})
