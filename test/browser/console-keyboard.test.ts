/**
 * The console by the keyboard alone, against the compiled binary in Chromium: every action of every
 * screen is reached by Tab and done by a key, the focus is seen at each stop, and after each action
 * it is at a place that makes sense.
 * @module
 */
import { beforeAll, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { openConsole, unlock, waitForText, waitWithout } from './support/console.ts'
import { act, expectFocus, fill, openAsManager, tabBackTo, tabTo } from './support/keyboard.ts'
import { openSignedVault, openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

beforeAll(async () => {
  vault = await openVault()
  for (let index = 0; index < 25; index += 1) {
    await vault.backend.tokens.create({ id: `mail-${index}`, type: 'email', data: 'a@b.example' })
  }
})

/** The console of a backend, which comes there by itself. */
async function openTokens(): Promise<Page> {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await expectFocus(page, 'h1', 'Tokens')
  return page
}

test('the door and the head', async () => {
  const { page } = await openConsole(vault)
  await tabTo(page, 'Open')
  await page.keyboard.press('Space')
  await waitForText(page, 'Expected an API key')
  await expectFocus(page, 'input', 'API key')
  await page.keyboard.type(vault.managementKey)
  await tabTo(page, 'Open')
  await page.keyboard.press('Space')
  await expectFocus(page, 'h1', 'Overview')
  await tabBackTo(page, 'Lock')
  await page.keyboard.press('Space')
  await waitForText(page, 'Locked.')
  await expectFocus(page, 'input', 'API key')
})

test('overview: what could not be read is read again', async () => {
  const { page } = await openConsole(vault)
  let fails = true
  await page.setRequestInterception(true)
  page.on('request', request => {
    const isStatus = fails && new URL(request.url()).pathname.endsWith('/status')
    void (isStatus ? request.abort() : request.continue())
  })
  await unlock(page, vault.managementKey)
  await waitForText(page, 'No answer')
  await expectFocus(page, 'h1', 'Overview')
  await tabTo(page, 'Try again')
  fails = false
  await page.keyboard.press('Enter')
  await waitForText(page, 'Keys and backups')
  await expectFocus(page, 'h1', 'Overview')
})

test('settings: filter, and what somebody set', async () => {
  const page = await openAsManager(vault, 'Settings')
  await waitForText(page, 'They are read at the start')
  await fill(page, 'Filter', 'console')
  await waitForText(page, '1 of ')
  await expectFocus(page, 'input', 'Filter')
  await tabTo(page, 'Only what somebody set')
  await page.keyboard.press('Space')
  await waitForText(page, '0 of ')
  await expectFocus(page, 'input', 'Only what somebody set')
})

test('tokens: help, search, pages and one of them', async () => {
  const page = await openTokens()
  await waitForText(page, 'mail-24')
  await act(page, 'How to search', 'Space')
  await waitForText(page, 'All below a container')
  await waitForText(page, 'modified_by and modified_at')
  await expectFocus(page, 'summary', 'How to search')
  await act(page, 'Older')
  await waitForText(page, 'Page 2')
  await waitForText(page, 'mail-0')
  // There is nothing older: its button can no more be pressed.
  await expectFocus(page, 'h1', 'Tokens')
  await act(page, 'Newer', 'Space')
  await waitForText(page, 'Page 1')
  await waitForText(page, 'mail-24')
  await expectFocus(page, 'h1', 'Tokens')
  await fill(page, 'Search', 'id:mail-3')
  await act(page, 'Find', 'Space')
  await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
  await expectFocus(page, 'button', 'Find')
  await act(page, 'mail-3')
  await expectFocus(page, 'h1', 'Token')
})

test('a token: reveal, cancel, show more, hide, and back', async () => {
  await vault.backend.tokens.create({ id: 'long', type: 'token', data: 'a'.repeat(3_000) })
  const page = await openTokens()
  await act(page, 'long')
  await waitForText(page, 'Reveal')
  await act(page, 'Reveal')
  await expectFocus(page, 'input', 'Reason')
  await act(page, 'Cancel', 'Space')
  await expectFocus(page, 'button', 'Reveal')
  await page.keyboard.press('Space')
  await expectFocus(page, 'input', 'Reason')
  await page.keyboard.type('Case 17')
  await act(page, 'Show value', 'Space')
  await waitForText(page, 'characters left')
  await expectFocus(page, 'button', 'Hide')
  await tabBackTo(page, 'Show more (1,000 characters left)')
  await page.keyboard.press('Enter')
  await waitWithout(page, 'characters left')
  await expectFocus(page, 'h2', 'Value')
  await act(page, 'Hide')
  await expectFocus(page, 'button', 'Reveal')
  await tabBackTo(page, 'All tokens')
  await page.keyboard.press('Enter')
  await expectFocus(page, 'h1', 'Tokens')
})

test('log: filter, clear, follow, about one id, and prove an entry', async () => {
  const signed = await openSignedVault()
  await signed.backend.tokens.create({ id: 'card-1', type: 'token', data: 1 })
  const page = await openAsManager(signed, 'Log')
  await waitForText(page, 'card-1')
  await fill(page, 'Operation', 'createApplication')
  await act(page, 'Filter', 'Space')
  await waitWithout(page, 'createToken')
  await expectFocus(page, 'button', 'Filter')
  await act(page, 'Clear')
  await waitForText(page, 'card-1')
  await expectFocus(page, 'button', 'Clear')
  await tabTo(page, 'Hide reads of the log and of the state')
  await page.keyboard.press('Space')
  await waitForText(page, 'listLogs')
  await expectFocus(page, 'input', 'Hide reads of the log and of the state')
  await tabBackTo(page, 'Follow')
  await page.keyboard.press('Space')
  await signed.backend.tokens.create({ id: 'came-later', type: 'token', data: 1 })
  await waitForText(page, 'came-later')
  await expectFocus(page, 'input', 'Follow')
  await page.keyboard.press('Space')
  await act(page, 'card-1')
  await waitWithout(page, 'came-later')
  await expectFocus(page, 'button', 'card-1')
  const verify = String(await page.evaluate(`document.querySelector('td button.small').ariaLabel`))
  await act(page, verify, 'Space')
  await waitForText(page, 'Proved.')
  await expectFocus(page, 'button', verify.replace('Verify', 'Close the proof of'))
})
