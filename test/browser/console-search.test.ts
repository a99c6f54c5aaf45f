/**
 * The console's search: containers as a tree, words that are suggested, and mistakes told at their
 * place; against the compiled binary in Chromium.
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
/** Key of the tokens below one container. */
let narrowKey: string
/** Key that makes tokens alone. */
let makerKey: string

beforeAll(async () => {
  vault = await openVault()
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const permissions = ['token:read', 'token:search'] as const
  const rules = [{ priority: 1, container: '/shop/', transform: 'mask', permissions }] as const
  narrowKey = (await manager.applications.create({ name: 'Shop', type: 'private', rules })).key
  const grants = { type: 'private', permissions: ['token:create'] } as const
  makerKey = (await manager.applications.create({ name: 'Maker', ...grants })).key
  const made = ['/shop/north/', '/shop/north/', '/shop/south/', '/shop/', '/stock/']
  for (const [index, container] of made.entries()) {
    const metadata = { order: String(index) }
    const token = { id: `in-${index}`, type: 'token', data: 'kept', metadata } as const
    await vault.backend.tokens.create({ ...token, containers: [container] })
  }
})

describe.each(looks)('the containers, $scheme and $width wide', look => {
  test('open step by step by the keyboard, and list their tokens', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, narrowKey)
    await waitForText(page, 'in-3')
    expect(await page.evaluate('document.body.innerText')).not.toContain('in-4')
    await page.focus('.tree summary')
    await page.keyboard.press('Enter')
    await waitForText(page, '4 tokens')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await waitForText(page, '1 token in /shop/ itself')
    await waitForText(page, '2 tokens')
    expect(await page.$eval('.tree', each => each.textContent)).not.toContain('stock')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '.branches')).toEqual([])
    // Past the button of the shop and what opens the north to its name.
    for (let steps = 0; steps < 3; steps += 1) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 2`)
    expect(await page.$eval('#query', each => (each as unknown as { value: string }).value)).toBe(
      'container:/shop/north/*',
    )
    await waitForText(page, 'order: 1')
    await expectClean(opened, vault, [narrowKey, 'north'])
  })

  test('lead back to the tokens before, and to all of them', async () => {
    const { page } = await openConsole(vault, look)
    await unlock(page, narrowKey)
    await waitForText(page, 'in-3')
    await press(page, 'Containers')
    const rows = (count: number) =>
      page.waitForFunction(
        `document.querySelectorAll('.given:not(.stale) tbody tr').length === ${count}`,
      )
    const query = () => page.$eval('#query', each => (each as unknown as { value: string }).value)
    await rows(4)
    await page.waitForSelector('.branches button.link')
    await page.$eval('.branches button.toggle', each => {
      ;(each as unknown as { click: () => void }).click()
    })
    await waitForText(page, '2 tokens')
    await page.$eval('.branches .branches button.link', each => {
      ;(each as unknown as { click: () => void }).click()
    })
    await rows(2)
    expect(await query()).toBe('container:/shop/north/*')
    await page.goBack()
    await rows(4)
    expect(await query()).toBe('')
    expect(await pageText(page)).not.toContain('All tokens')
    await page.goForward()
    await page.type('#query', 'id:in-3')
    await press(page, 'Find')
    await rows(1)
    await press(page, 'All tokens')
    await rows(4)
    expect(await query()).toBe('')
    await page.goBack()
    await rows(1)
    expect(await query()).toBe('id:in-3')
    await press(page, 'Find')
    await page.goBack()
    await rows(4)
    expect(await query()).toBe('')
  })

  test('are not offered to a key that may not read, and neither is a search', async () => {
    const { page } = await openConsole(vault, look)
    await unlock(page, makerKey)
    await press(page, 'Tokens')
    await waitForText(page, 'This key lacks token:read')
    expect(await page.$$eval('.tree, form', all => all.length)).toBe(0)
    expect(await seriousIn(page, '.notice')).toEqual([])
  })

  test('words are suggested, and picked by the keyboard', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, vault.privateKey)
    await waitForText(page, 'in-4')
    await page.focus('#query')
    await page.keyboard.type('metadata.')
    await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`)
    expect(await seriousIn(page, '#query-options')).toEqual([])
    expect(await sideways(page)).toBe(0)
    await page.keyboard.press('ArrowDown')
    await page.waitForFunction(`
      document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))
        ?.innerText.includes('metadata.order:')`)
    await page.keyboard.press('Enter')
    await page.keyboard.type('1 A')
    await page.waitForSelector('[role=option]')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.keyboard.type('ty')
    await page.waitForSelector('[role=option]')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.keyboard.type('token')
    await page.keyboard.press('Escape')
    await page.waitForFunction(`document.querySelector('[role=option]') === null`)
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    expect(await page.$eval('#query', each => (each as unknown as { value: string }).value)).toBe(
      'metadata.order:1 AND type:token',
    )
    await expectClean(opened, vault, ['metadata.order'])
  })

  test('a mistake is told at its place, and found there', async () => {
    const { page } = await openConsole(vault, look)
    await unlock(page, vault.privateKey)
    await page.waitForSelector('#query')
    await page.type('#query', 'type:token AND colour:red')
    await page.keyboard.press('Enter')
    await waitForText(page, 'Character 16 of the query: expected one of the fields')
    expect(await page.$eval('mark', each => each.textContent)).toBe('colour:red')
    await page.waitForSelector('#query[aria-invalid=true][aria-describedby=query-mistake]')
    expect(await seriousIn(page, '#query-mistake')).toEqual([])
    expect(await sideways(page)).toBe(0)
    await press(page, 'Go to character 16')
    await page.waitForSelector('#query:focus')
    expect(
      await page.$eval(
        '#query',
        each => (each as unknown as { selectionStart: number }).selectionStart,
      ),
    ).toBe(15)
    expect(await page.evaluate('getSelection().toString()')).toBe('colour:red')
    await page.keyboard.press('Backspace')
    await page.keyboard.type('metadata.x')
    await page.keyboard.press('Enter')
    await waitForText(page, '← here, at the end')
  })
})
