/**
 * The console's screens of the vault's state and its settings, against the compiled binary in
 * Chromium.
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
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openSignedVault, openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
beforeAll(async () => {
  vault = await openSignedVault()
})

const paths = `[...document.querySelectorAll('.plot path:not(.base)')]
  .map(each => each.getAttribute('d')).join()`

const pathsIn = (page: Page): Promise<string> => page.evaluate(paths) as Promise<string>

describe.each(looks)('a manager, $scheme and $width wide', look => {
  test('sees first whether the vault is well, and plots that move', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, vault.managementKey)
    await page.waitForSelector('.plot svg')
    const text = await pageText(page)
    expect(text).toContain('✓ Ready')
    expect(text).toContain('the master key lies beside the data')
    expect(text).toContain('this server makes none')
    expect(text).toMatch(/Age of the master key\s+\d+ (?:s|min)/)
    expect(text).toMatch(/Disk\s+[\d.]+ [GT]B of [\d.]+ [GT]B left/)
    const alternative = await page.evaluate(
      `document.querySelector('.plot svg').getAttribute('aria-label')`,
    )
    expect(alternative).toMatch(/^Answers in the last .* answered: now .*\/s, between /)
    const before = await pathsIn(page)
    await page.waitForFunction(`${paths} !== ${JSON.stringify(before)}`)
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '.plot')).toEqual([])
    await expectClean(opened, vault, [vault.managementKey])
  })

  test('finds a setting by the keyboard alone, and no place of the machine', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    await unlock(page, vault.managementKey)
    await page.waitForSelector('.plot svg')
    await page.evaluate(`document.querySelector('a[href="#/settings"]').focus()`)
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.activeElement?.innerText === 'Settings'`)
    await waitForText(page, 'mask_guard')
    await page.keyboard.press('Tab')
    await page.keyboard.type('--Mask-guard')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    for (const _ of '--Mask-guard') await page.keyboard.press('Backspace')
    await page.keyboard.type('data')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length < 5`)
    expect(await pageText(page)).toContain('set, not shown')
    expect(await pageText(page)).toContain('flag, --data')
    expect(await page.$eval('#setting-chosen', box => box.getBoundingClientRect().width)).toBe(18)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'tbody')).toEqual([])
    await expectClean(opened, vault, [vault.managementKey])
  })
})

test.each(['Overview', 'Settings'])('a key without the right is told so at %s', async screen => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await waitForText(page, 'Not with this key:')
  await press(page, screen)
  await waitForText(page, 'This key lacks status:read')
  expect(await pageText(page)).not.toContain('Keys and backups')
  expect(await seriousIn(page, '.notice')).toEqual([])
})

test('plots beside one another are level, also where a legend takes two lines', async () => {
  const { page } = await openConsole(vault, { width: 1280 })
  await unlock(page, vault.managementKey)
  await page.waitForSelector('.plot svg')
  const tops = `(() => {
    const legends = [...document.querySelectorAll('.legend')].slice(0, 3)
    legends[1].append(document.createElement('li'))
    legends[1].style.paddingBottom = '40px'
    return [...document.querySelectorAll('.plot svg')].slice(0, 3)
      .map(each => each.getBoundingClientRect().top)
  })()`
  expect(new Set((await page.evaluate(tops)) as number[]).size).toBe(1)
})

test('the name of the application has the room that the screens leave', async () => {
  const { page } = await openConsole(vault, { width: 1000 })
  await unlock(page, vault.managementKey)
  await waitForText(page, '✓ Ready')
  const rightOf = (selector: string) =>
    page.$eval(selector, element => Math.round(element.getBoundingClientRect().right))
  expect(await rightOf('header nav')).toBe(await rightOf('header li:last-child a'))
})

test('the button that locks is at the edge, however few screens a key has', async () => {
  for (const width of [1280, 1000, 800, 375]) {
    const { page } = await openConsole(vault, { width })
    await unlock(page, vault.privateKey)
    await waitForText(page, 'Tokens')
    const [room, padding] = (await page.evaluate(`(() => {
      const header = document.querySelector('header')
      const { right } = header.querySelector('button').getBoundingClientRect()
      return [innerWidth - right, parseFloat(getComputedStyle(header).paddingRight)]
    })()`)) as [number, number]
    expect([width, room]).toEqual([width, padding])
  }
})

test('a throw-away vault tells of itself as well, and a lock ends it', async () => {
  const dev = await openVault()
  const { page } = await openConsole(dev)
  await unlock(page, dev.managementKey)
  await waitForText(page, '✓ Ready')
  await page.waitForSelector('.plot svg')
  await press(page, 'Lock')
  await page.waitForSelector('#key')
  expect(await pageText(page)).not.toContain('Ready')
})
