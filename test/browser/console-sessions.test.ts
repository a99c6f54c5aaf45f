/**
 * The console's screens of sessions and webhooks, against the compiled binary in Chromium.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import {
  expectClean,
  looks,
  openConsole,
  pageText,
  press,
  sideways,
  unlock,
  waitForText,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

describe.each(looks)('a manager, $scheme and $width wide', look => {
  test('ends a session, once it is asked again', async () => {
    const started = await fetch(`${vault.address}/sessions`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': vault.publicKey },
    })
    const { id, session_key: key } = (await started.json()) as Record<string, string>
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, vault.managementKey)
    await press(page, 'Sessions')
    await waitForText(page, String(id))
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'h1')).toEqual([])
    await page.evaluate(`document.querySelector('[aria-label="End session ${id}"]').click()`)
    await press(page, 'End it now')
    await page.waitForFunction(`!document.body.innerText.includes('${id}')`)
    expect(await pageText(page)).toContain('No sessions')
    await expectClean(opened, vault, [vault.managementKey, String(key)])
  })

  test('sees a webhook and what waits for it, and sends a test event', async () => {
    const manager = createClient({ address: vault.address, key: vault.managementKey })
    const hook = await manager.webhooks.create({
      name: 'Shop <i>',
      url: 'https://hooks.invalid/coffer',
      events: ['token.created'],
    })
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, vault.managementKey)
    await press(page, 'Webhooks')
    await waitForText(page, 'https://hooks.invalid/coffer')
    expect(await pageText(page)).toContain('Shop <i>')
    await press(page, 'Send a test event')
    await waitForText(page, 'A test event is on its way.')
    // No such host: the attempt has failed once this can be pressed.
    await page.waitForFunction(
      `(() => {
        const named = text => [...document.querySelectorAll('button')].find(each =>
          each.innerText.trim() === text)
        if (named('Send now') === undefined) named('Look again')?.click()
        return named('Send now') !== undefined
      })()`,
      { polling: 200 },
    )
    await press(page, 'Send now')
    await waitForText(page, 'is on its way. Look again to see whether it arrived.')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'dl')).toEqual([])
    await expectClean(opened, vault, [vault.managementKey, String(hook.secret)])
    await manager.webhooks.delete(hook.id)
  })
})

test.each([
  ['Sessions', 'session:read'],
  ['Webhooks', 'webhook:read'],
])('a key that may not see %s is told that it lacks %s', async (screen, permission) => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await press(page, screen)
  await waitForText(page, `This key lacks ${permission}`)
  expect(await seriousIn(page, '.notice')).toEqual([])
})
