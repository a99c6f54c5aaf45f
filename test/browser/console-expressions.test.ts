/**
 * The console's screen of expressions on sample data, against the compiled binary in Chromium.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import {
  expectClean,
  looks,
  openConsole,
  pageText,
  press,
  sideways,
  unlock,
  waitForText,
  type ConsoleLook,
} from './support/console.ts'
import { sampleTypes } from '../../src/console/app/sample.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openVault()
})

const masked = 'XXXXXXXXXXX.com'

async function openExpressions(look: ConsoleLook = {}, key = vault.managementKey) {
  const opened = await openConsole(vault, look)
  await unlock(opened.page, key)
  await press(opened.page, 'Expressions')
  return opened
}

/** Replaces what a field holds, by the keyboard. */
async function retype(page: Page, field: string, text: string): Promise<void> {
  await page.focus(`#sample-${field}`)
  await page.keyboard.down('Control')
  await page.keyboard.press('a')
  await page.keyboard.up('Control')
  await page.keyboard.type(text)
}

const faultAt = (page: Page, field: string, start: string) =>
  page.waitForFunction(
    `document.querySelector('#fault-${field}').innerText.startsWith(${JSON.stringify(start)})`,
  )

test('each type begins with a sample of its own, unless somebody has typed', async () => {
  const { page } = await openExpressions()
  await waitForText(page, masked)
  const previewed = `document.querySelector('.given:not(.stale)') !== null &&
    [...document.querySelectorAll('.fault')].every(each => each.innerText === '')`
  for (const type of sampleTypes.filter(each => each !== 'token')) {
    const answered = page.waitForResponse(
      answer =>
        answer.url().endsWith('/expressions/preview') &&
        String(answer.request().postData()).includes(`"type":"${type}"`),
    )
    await page.select('#sample-type', type)
    expect((await answered).status()).toBe(200)
    await page.waitForFunction(previewed)
  }
  await retype(page, 'data', '1999-12-31')
  await page.select('#sample-type', 'email')
  const data = `document.querySelector('#sample-data').value`
  expect(await page.evaluate(data)).toBe('1999-12-31')
  await waitForText(page, 'No token: see what the form says.')
})

describe.each(looks)('a manager, $scheme and $width wide', look => {
  test('sees what expressions give while they are typed, by the keyboard alone', async () => {
    const opened = await openExpressions(look)
    const { page } = opened
    await waitForText(page, masked)
    await retype(page, 'mask', '{{ data.name | slice: 0 }}***')
    await waitForText(page, 'A***')
    await page.keyboard.press('Tab')
    await page.keyboard.type('order-{{ data.email | upcase }}')
    await waitForText(page, 'order-ADA@EXAMPLE.COM')
    expect(await seriousIn(page, '#sample-mask')).toEqual([])
    expect(await sideways(page)).toBe(0)
    await expectClean(opened, vault, [vault.managementKey, 'ada@example.com'])
  })
})

test('a fault stands at its field, and goes once it is mended', async () => {
  const { page } = await openExpressions()
  await retype(page, 'mask', '{{ name }}')
  await faultAt(page, 'mask', 'position 3: expected')
  await waitForText(page, 'No token: see what the form says.')
  expect(await seriousIn(page, '#fault-mask')).toEqual([])
  await retype(page, 'data', '{"name": ')
  await faultAt(page, 'data', 'expected JSON')
  await retype(page, 'data', '{"email": "grace@example.com"}')
  await retype(page, 'mask', '{{ data.email }}')
  await page.waitForFunction(`document.querySelector('#fault-mask').innerText === ''`)
  await waitForText(page, 'grace@example.com')
})

test('the number of a card is masked by its type, and no mask may show it', async () => {
  const { page } = await openExpressions()
  await page.select('#sample-type', 'card_number')
  await retype(page, 'data', '4242424242424242')
  await retype(page, 'search_indexes', ' ')
  await retype(page, 'fingerprint_expression', '{{ data }}')
  await retype(page, 'mask', ' ')
  await waitForText(page, 'XXXXXXXXXXXX4242')
  await retype(page, 'mask', '{{ data }}')
  await faultAt(page, 'mask', 'expected a mask that hides')
})

test('what is typed quickly is asked less often than it is typed', async () => {
  const { page, asked } = await openExpressions()
  await waitForText(page, masked)
  const before = asked.length
  await page.focus('#sample-mask')
  const text = 'a mask that a person types in one go'
  await page.evaluate(`(async () => {
    const field = document.querySelector('#sample-mask')
    for (const end of ${JSON.stringify(text)}.split('').keys()) {
      field.value = ${JSON.stringify(text)}.slice(0, end + 1)
      field.dispatchEvent(new Event('input', { bubbles: true }))
      await new Promise(requestAnimationFrame)
    }
  })()`)
  await page.waitForFunction(`document.querySelector('.value bdi')?.innerText === '${text}'`)
  expect(asked.length - before).toBeLessThan(text.length / 2)
})

test('hostile data breaks nothing', async () => {
  const opened = await openExpressions({ width: 375 })
  const { page } = opened
  const markup = '<img src=x onerror="globalThis.hit = 1">\u202E'
  await retype(page, 'data', JSON.stringify(markup))
  await retype(page, 'search_indexes', '{{ data }}')
  await retype(page, 'fingerprint_expression', '{{ data }}')
  await retype(page, 'mask', '{{ data }}')
  await waitForText(page, '<img src=x onerror="globalThis.hit = 1">⟨202E⟩')
  expect(await page.evaluate('globalThis.hit')).toBeUndefined()
  expect(await page.$$('main img')).toHaveLength(0)
  expect(await sideways(page)).toBe(0)
  await expectClean(opened, vault, [vault.managementKey])
})

test('a key without the permission is told which it lacks', async () => {
  const { page } = await openExpressions({}, vault.privateKey)
  await waitForText(page, 'This key lacks expression:preview')
  expect(await seriousIn(page, '.notice')).toEqual([])
})

test('what was typed is gone with the screen', async () => {
  const { page } = await openExpressions()
  await retype(page, 'id', 'typed-before')
  await press(page, 'Tokens')
  await press(page, 'Expressions')
  const typed = await page.waitForSelector('#sample-id')
  expect(await typed?.evaluate(field => (field as unknown as { value: string }).value)).toBe('')
  expect(await pageText(page)).not.toContain('typed-before')
})
