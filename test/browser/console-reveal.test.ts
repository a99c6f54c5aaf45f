/**
 * The console shows masks, and a value only to who says why: against the compiled binary in
 * Chromium.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import {
  expectClean,
  holdNext,
  looks,
  openConsole,
  pageText,
  press,
  reveal,
  sideways,
  unlock,
  waitForText,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
/** Keys whose rules reveal, and mask. */
let revealing: string
let masking: string

const number = '4242424242424242'
const masked = 'XXXXXXXXXXXX4242'

beforeAll(async () => {
  vault = await openVault()
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const permissions = ['token:read', 'token:search'] as const
  const keyOf = async (transform: 'reveal' | 'mask'): Promise<string> => {
    const rules = [{ priority: 1, container: '/', transform, permissions }]
    return (await manager.applications.create({ name: transform, type: 'private', rules })).key
  }
  revealing = await keyOf('reveal')
  masking = await keyOf('mask')
  await vault.backend.tokens.create({ id: 'card-17', type: 'card_number', data: number })
})

describe.each(looks)('a key that reveals, $scheme and $width wide', look => {
  // proves S102
  test('sees masks until a reason is given, by the keyboard alone', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, revealing)
    await waitForText(page, masked)
    await press(page, 'card-17')
    await waitForText(page, 'Revealed: rule 0')
    expect(await pageText(page)).toContain(masked)
    await page.focus('section[aria-labelledby=value-title] > button')
    await page.keyboard.press('Enter')
    await page.waitForSelector('#reason:focus')
    expect(await seriousIn(page, '#reason')).toEqual([])
    expect(await sideways(page)).toBe(0)
    await page.keyboard.press('Enter')
    expect(await pageText(page)).not.toContain(number)
    await page.keyboard.type('Case 17: Rückfrage, 100 %')
    await page.keyboard.press('Enter')
    await waitForText(page, number)
    await page.waitForFunction(`document.activeElement.innerText === 'Hide'`)
    // True with the value on the page as well as before.
    expect(await pageText(page)).toContain('shows the mask first, and the value once a reason')
    expect(await seriousIn(page, '.value')).toEqual([])
    await page.keyboard.press('Enter')
    await waitForText(page, masked)
    expect(await pageText(page)).not.toContain(number)
    await page.waitForFunction(`document.activeElement.innerText === 'Reveal'`)
    await expectClean(opened, vault, [revealing, number, 'Case 17'])
  })
})

// proves S102
test('the page of a token that was left shows its mask again', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, revealing)
  await press(page, 'card-17')
  await reveal(page)
  await waitForText(page, number)
  await press(page, 'All tokens')
  await page.waitForSelector('#query')
  expect(await pageText(page)).not.toContain(number)
  await page.goBack()
  await waitForText(page, masked)
  expect(await pageText(page)).not.toContain(number)
})

describe('a value that comes too late', () => {
  async function begin() {
    const { page } = await openConsole(vault)
    await unlock(page, revealing)
    await press(page, 'card-17')
    await press(page, 'Reveal')
    await page.waitForSelector('#reason:focus')
    const held = await holdNext(page, request => request.headers()['svc-reason'] !== undefined)
    await page.keyboard.type('Case 17')
    await page.keyboard.press('Enter')
    await held.asked()
    return { page, held }
  }

  // proves S102
  test('is not shown after Cancel', async () => {
    const { page, held } = await begin()
    await press(page, 'Cancel')
    await held.release()
    expect(await pageText(page)).not.toContain(number)
    await reveal(page, 'Case 18')
    await waitForText(page, number)
  })

  test('is not shown while the next reason is typed', async () => {
    const { page, held } = await begin()
    await press(page, 'Cancel')
    await press(page, 'Reveal')
    await page.waitForSelector('#reason:focus')
    await held.release()
    expect(await pageText(page)).not.toContain(number)
    expect(await page.$('#reason')).not.toBeNull()
  })

  // proves S101
  test('is not shown once the console was locked and opened again', async () => {
    const { page, held } = await begin()
    await press(page, 'Lock')
    await unlock(page, revealing)
    await press(page, 'Tokens')
    await press(page, 'card-17')
    await waitForText(page, 'Revealed: rule 0')
    await held.release()
    expect(await pageText(page)).not.toContain(number)
  })
})

test('a reason with a card number is refused, and the value stays masked', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, revealing)
  await press(page, 'card-17')
  await press(page, 'Reveal')
  await page.waitForSelector('#reason:focus')
  await page.keyboard.type('4000 0566 5566 5556')
  await page.keyboard.press('Enter')
  await waitForText(page, 'expected no card number')
  expect(await pageText(page)).not.toContain(number)
  await press(page, 'Cancel')
  await page.waitForFunction(`document.activeElement.innerText === 'Reveal'`)
  expect(await pageText(page)).not.toContain('expected no card number')
})

test('a key whose rules mask has nothing to press', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, masking)
  await press(page, 'card-17')
  await waitForText(page, 'Masked: rule 0')
  expect(await pageText(page)).not.toContain('Reveal\n')
  expect(await page.$('section[aria-labelledby=value-title] > button')).toBeNull()
})

test('the log tells who has seen a value, and why', async () => {
  const hostile = '<img src=x onerror="globalThis.hit = 1">'
  const desk = await openConsole(vault)
  await unlock(desk.page, revealing)
  await press(desk.page, 'card-17')
  await reveal(desk.page, hostile)
  const opened = await openConsole(vault, { width: 375 })
  const { page } = opened
  await unlock(page, vault.managementKey)
  await press(page, 'Log')
  await waitForText(page, `Reason: ${hostile}`)
  expect(await page.evaluate('globalThis.hit')).toBeUndefined()
  expect(await sideways(page)).toBe(0)
  await expectClean(opened, vault, [vault.managementKey])
})
