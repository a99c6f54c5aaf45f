/**
 * The outcome of an action of the console is seen, also in a narrow window where it would stand
 * below its end: against the compiled binary in Chromium.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient, type Client } from '../../src/client/index.ts'
import { openConsole, pageText, press, sideways, unlock, waitForText } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
let manager: Client
const narrow = { scheme: 'light', width: 375 } as const

beforeAll(async () => {
  vault = await openVault()
  manager = createClient({ address: vault.address, key: vault.managementKey })
  await vault.backend.tokens.create({ id: 'mail', type: 'email', data: 'a@b.example' })
})

async function openDesk(name: string) {
  const { id } = await manager.applications.create({
    name,
    type: 'private',
    rules: [
      { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] },
      { priority: 2, container: '/pii/', transform: 'mask', permissions: ['token:read'] },
    ],
  })
  const { page } = await openConsole(vault, narrow)
  await page.setViewport({ width: 375, height: 600 })
  await unlock(page, vault.managementKey)
  await press(page, 'Applications')
  await press(page, name)
  await waitForText(page, 'Change rules')
  return { page, id }
}

/** Clicks by the pointer, with the button at the end of the window. */
async function clickAtEnd(page: Page, text: string): Promise<void> {
  const found = `[...document.querySelectorAll('button')]
    .find(each => each.innerText === '${text}')`
  await page.evaluate(`${found}.scrollIntoView({ block: 'end' })`)
  await page.evaluate(`${found}.click()`)
}

const widthOf = async (page: Page, text: string) =>
  Number(
    await page.evaluate(`[...document.querySelectorAll('button')]
    .find(each => each.innerText.trim() === '${text}').offsetWidth`),
  )

const seen = (page: Page, selector: string) =>
  page.waitForFunction(`(box => box !== undefined && box.top >= 0 && box.bottom <= innerHeight)
    (document.querySelector(${JSON.stringify(selector)})?.getBoundingClientRect())`)

test.each([375, 1280])('what an expression gives is in view at its field, %i wide', async width => {
  const { page } = await openConsole(vault, { width })
  await page.setViewport({ width, height: 600 })
  await unlock(page, vault.managementKey)
  await press(page, 'Expressions')
  await waitForText(page, 'Found by a search for data')
  for (const field of ['mask', 'fingerprint_expression', 'mask']) {
    await page.focus(`#sample-${field}`)
    await seen(page, '[aria-labelledby=result-title]')
    await seen(page, `#sample-${field}`)
    const isCovered = `(box => document.elementFromPoint(box.x + 20, box.y + 10).id)
      (document.activeElement.getBoundingClientRect())`
    expect(await page.evaluate(isCovered)).toBe(`sample-${field}`)
  }
  expect(await sideways(page)).toBe(0)
})

test('a new key comes into view, and stands until it is copied', async () => {
  const { page, id } = await openDesk('Keys')
  await clickAtEnd(page, 'Make one more key')
  await seen(page, '.secret')
  // A second one would take its place.
  expect(await pageText(page)).not.toContain('Make one more key')
  await press(page, 'I have copied it')
  await waitForText(page, 'Make one more key')
  expect(await pageText(page)).not.toContain('key_')
  expect(await manager.applications.keys.list(id)).toHaveLength(2)
})

test('the counts of a simulation come into view, and the question stays within', async () => {
  const { page } = await openDesk('Counts')
  await press(page, 'Change rules')
  await page.select('#rule-0-transform', 'reveal')
  await clickAtEnd(page, 'Simulate')
  await seen(page, '.change')
  const height = `document.querySelector('.buttons button').offsetHeight`
  expect(await page.evaluate(height)).toBeLessThan(50)
  // As wide as its own word until it asks.
  expect(await widthOf(page, 'Save')).toBeLessThan(await widthOf(page, 'Simulate'))
  await press(page, 'Save')
  await waitForText(page, 'Keys of this application see these values from then on.')
  const covers = `document.querySelector('.effect').getBoundingClientRect().bottom >
    document.querySelector('[role=status] h3').getBoundingClientRect().top`
  expect(await page.evaluate(covers)).toBe(false)
  expect(await sideways(page)).toBe(0)
})

test('the question of the last row covers nothing below the list', async () => {
  const started = await fetch(`${vault.address}/sessions`, {
    method: 'POST',
    headers: { 'SVC-API-KEY': vault.publicKey },
  })
  expect(started.status).toBe(201)
  const { page } = await openConsole(vault, narrow)
  await unlock(page, vault.managementKey)
  await press(page, 'Sessions')
  await waitForText(page, 'Demo browser')
  await press(page, 'End')
  await page.waitForSelector('.effect')
  const [end, foot] = (await page.evaluate(`[
    document.querySelector('.effect').getBoundingClientRect().bottom,
    document.querySelector('footer').getBoundingClientRect().top,
  ]`)) as [number, number]
  expect(end).toBeLessThanOrEqual(foot)
})

test('words of the buttons of a row stand in the line of its other words', async () => {
  await openDesk('Lines')
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, 'Applications')
  await press(page, 'Lines')
  await waitForText(page, 'Revoke')
  const tops = (await page.evaluate(`[...document.querySelectorAll('tr:has(.action) :is(th, td)')]
    .map(cell => {
      const range = document.createRange()
      range.selectNodeContents(cell.querySelector('button, time, bdi') ?? cell)
      return range.getBoundingClientRect().bottom
    })`)) as number[]
  expect(tops).toHaveLength(6)
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(3)
})

test('an id of two lines leaves the other words of its row at the top', async () => {
  await vault.backend.tokens.create({ id: 'long-id-'.repeat(9), type: 'token', data: 'a' })
  const { page } = await openConsole(vault, { width: 1000 })
  await unlock(page, vault.privateKey)
  await waitForText(page, 'long-id')
  const tops = (await page.evaluate(`[...document.querySelectorAll('tbody tr')].find(row =>
    row.innerText.includes('long-id')).querySelectorAll('bdi, time').values().map(each =>
    each.getClientRects()[0].top).toArray()`)) as number[]
  expect(tops.length).toBeGreaterThan(2)
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThan(3)
})

test('the note of a rule can be changed, and taken away', async () => {
  const { page, id } = await openDesk('Notes')
  const save = async () => {
    await press(page, 'Simulate')
    await press(page, 'Save')
    await waitForText(page, 'Change rules')
  }
  const noteHeights = `[...document.querySelectorAll('td[data-label=Note]')].map(each =>
    each.offsetHeight)`
  // In a card a label without a value says nothing.
  expect(await page.evaluate(noteHeights)).toEqual([0, 0])
  await press(page, 'Change rules')
  await page.type('#rule-1-description', 'people as masks')
  await save()
  await waitForText(page, 'people as masks')
  await press(page, 'Change rules')
  await page.$eval('#rule-1-description', each => {
    ;(each as unknown as { select: () => void }).select()
  })
  await page.keyboard.press('Backspace')
  await save()
  expect((await manager.applications.get(id)).rules[1]?.description ?? '').toBe('')
})

test('Enter in its name makes an application, and nothing without a name', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, 'Applications')
  await press(page, 'New application')
  await page.focus('#new-name')
  await page.keyboard.press('Enter')
  expect(await pageText(page)).not.toContain('The new key')
  await page.select('#new-type', 'management')
  expect(await pageText(page)).not.toContain('show masks')
  await page.type('#new-name', 'By Enter')
  await page.keyboard.press('Enter')
  await seen(page, '.secret')
})
