/**
 * Hostile tokens in the console's lists, all tokens and those that a search finds, against the
 * compiled binary in Chromium.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import {
  expectClean,
  openConsole,
  pageText,
  sideways,
  unlock,
  waitForText,
} from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

const markup = '<img src=x onerror="globalThis.hit = 1"><script>globalThis.hit = 1</script>'
const turned = 'safe\u202Egnp.exe\u2066\u200Bend'
const rightToLeft = '\u05E9\u05DC\u05D5\u05DD \u0645\u0631\u062D\u0628\u0627 (1) '.repeat(40)
const long = 'W'.repeat(512 * 1_024 - 2)
/** Characters of a row, whatever it holds. */
const rowCharsMax = 1_000

let vault: DevVault

beforeAll(async () => {
  vault = await openVault()
  const samples = { markup, turned, rightToLeft, long }
  for (const [name, data] of Object.entries(samples)) {
    const metadata = { kind: 'hostile', text: data.slice(0, 500) }
    const mask = name === 'long' ? '{{ data }}' : undefined
    await vault.backend.tokens.create({
      id: `hostile-${name}`,
      type: 'token',
      data,
      metadata,
      ...(mask === undefined ? {} : { mask }),
    })
  }
})

/** All rows that it should show, none of them larger than a person can look at. */
async function expectHarmless(page: Page, rows: number): Promise<void> {
  await page.waitForFunction(`document.querySelectorAll('tbody tr').length === ${rows}`)
  expect(await page.evaluate('globalThis.hit')).toBeUndefined()
  expect(await page.$$('main img, main script')).toHaveLength(0)
  expect(await sideways(page)).toBe(0)
  const lengths = `Math.max(...[...document.querySelectorAll('tbody tr')]
    .map(each => each.innerText.length))`
  expect(await page.evaluate(lengths)).toBeLessThan(rowCharsMax)
}

describe.each([375, 1_200])('%d wide', width => {
  test('hostile values and texts in both lists', async () => {
    const opened = await openConsole(vault, { width })
    const { page } = opened
    await unlock(page, vault.privateKey)
    await waitForText(page, 'hostile-long')
    await expectHarmless(page, 4)
    await page.type('#query', 'metadata.kind:hostile')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.given:not(.stale) tbody tr')
    await expectHarmless(page, 4)
    await expectClean(opened, vault, [vault.privateKey])
  })

  test('a page of tokens with 10,000 containers, hostile ids and masks each', async () => {
    const opened = await openConsole(vault, { width })
    const { page } = opened
    const containers = Array.from({ length: 10_000 }, (_, at) => `/${'<b>'.repeat(9)}${at}/`)
    const ids = [markup, turned, rightToLeft, `${'W'.repeat(1_024)}`]
    const data = ids.map(id => ({ id, type: 'token', data: { [id]: id }, containers }))
    const body = JSON.stringify({ data, pagination: {} })
    await page.setRequestInterception(true)
    page.on('request', request => {
      const isList = new URL(request.url()).pathname.startsWith('/v2/tokens')
      void (isList
        ? request.respond({ status: 200, contentType: 'application/json', body })
        : request.continue())
    })
    await unlock(page, vault.privateKey)
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 4`)
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    expect(await page.$$('main img, main script')).toHaveLength(0)
    expect(await sideways(page)).toBe(0)
    const text = await pageText(page)
    expect(text).toContain('⟨202E⟩')
    expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/)
    expect(opened.complaints).toEqual([])
  })
})
