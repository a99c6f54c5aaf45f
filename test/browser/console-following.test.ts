/**
 * A log that is followed in the console, against the compiled binary in Chromium: no row moves away
 * from a person who points at it, or has the focus in it.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import {
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

beforeEach(async () => {
  vault = await openVault()
  await make('first')
})

const make = (id: string) => vault.backend.tokens.create({ id, type: 'token', data: 1 })

async function openFollowed(look = {}): Promise<Page> {
  const { page } = await openConsole(vault, look)
  await unlock(page, vault.managementKey)
  await press(page, 'Log')
  await waitForText(page, 'first')
  await page.click('#follow')
  // The console itself asks for names.
  await waitForText(page, 'listApplications')
  return page
}

const firstRow = (page: Page) =>
  page.evaluate(`(row => [row.innerText, row.getBoundingClientRect().top].join())
    (document.querySelector('.given tbody tr'))`)

describe.each(looks)('$scheme and $width wide', look => {
  test('rows that somebody points at stay, and new ones wait behind a line', async () => {
    const page = await openFollowed(look)
    await page.hover('tbody tr')
    const before = await firstRow(page)
    await make('later-1')
    await waitForText(page, '1 new entry')
    await make('later-2')
    await waitForText(page, '2 new entries')
    expect(await firstRow(page)).toBe(before)
    expect(await pageText(page)).not.toContain('later')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '.arrived')).toEqual([])
    await press(page, '2 new entries')
    await waitForText(page, 'later-2')
    expect(await pageText(page)).not.toContain('new entr')
  })
})

test('they come by themselves once the pointer is elsewhere', async () => {
  const page = await openFollowed()
  await page.hover('tbody tr')
  await make('later')
  await waitForText(page, '1 new entry')
  await page.hover('#follow')
  await waitForText(page, 'later')
  expect(await pageText(page)).not.toContain('new entr')
})

test('rows with the focus stay, and those after the end of following as well', async () => {
  const page = await openFollowed()
  await page.focus('tbody button')
  await make('later')
  await waitForText(page, '1 new entry')
  expect(await pageText(page)).not.toContain('later')
  await page.click('#follow')
  await page.waitForFunction(`!document.body.innerText.includes('new entr')`)
  expect(await pageText(page)).not.toContain('later')
})
