/**
 * The console's screen of the audit log, against the compiled binary in Chromium.
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
import { createClient } from '../../src/client/index.ts'
import { until } from '../support/until.ts'
import { seriousIn } from './support/findings.ts'
import { openSignedVault, type DevVault } from './support/vaults.ts'

let vault: DevVault

beforeAll(async () => {
  vault = await openSignedVault()
  await vault.backend.tokens.create({ id: 'card-1', type: 'token', data: 'never in a log' })
  await vault.backend.tokens.get('card-1')
})

async function openLog(look: ConsoleLook = {}) {
  const opened = await openConsole(vault, look)
  await unlock(opened.page, vault.managementKey)
  await press(opened.page, 'Log')
  await opened.page.waitForSelector('tbody tr')
  return opened
}

describe.each(looks)('a manager, $scheme and $width wide', look => {
  test('sees the history of one token, and proves an entry of it', async () => {
    const opened = await openLog(look)
    const { page } = opened
    await page.focus('#filter-entity_id')
    await page.keyboard.type('card-1')
    await page.keyboard.press('Enter')
    // The rows before it stay until the answer is there, and their buttons go with them.
    await page.waitForFunction(`(() => {
      const rows = [...document.querySelectorAll('.given:not(.stale) tbody tr')]
      // An entry about several names the first of them alone.
      return rows.length > 0 && rows.every(each => /card-1|and \\d+ more/.test(each.innerText))
    })()`)
    expect(await pageText(page)).toContain('getToken')
    await press(page, 'Verify')
    await waitForText(page, '✓ Proved.')
    expect(await pageText(page)).toContain('The key was told by this vault just now')
    // As wide as the table: in its column it would crush the others.
    expect(await page.evaluate(`document.querySelector('.proof').closest('td').colSpan`)).toBe(6)
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '#follow')).toEqual([])
    await press(page, 'Close')
    await page.waitForFunction(`document.querySelector('.proof') === null`)
    await expectClean(opened, vault, [vault.managementKey, 'never in a log'])
  })
})

test('an entry that was changed on its way is not proved', async () => {
  const { page } = await openLog()
  await page.setRequestInterception(true)
  page.on('request', request => {
    if (!request.url().endsWith('/proof')) return void request.continue()
    void fetch(request.url(), { headers: { 'SVC-API-KEY': vault.managementKey } })
      .then(answer => answer.text())
      .then(text => text.replace('"result\\":', '"result\\":1'))
      .then(body => request.respond({ status: 200, contentType: 'application/json', body }))
  })
  await press(page, 'Verify')
  await waitForText(page, '✗ Not proved.')
})

test('a log that is followed shows what comes', async () => {
  const { page } = await openLog()
  await page.click('#follow')
  await vault.backend.tokens.create({ id: 'came-later', type: 'token', data: 1 })
  await waitForText(page, 'came-later')
})

test('filters that are set again show what has come since', async () => {
  const { page } = await openLog()
  await page.type('#filter-operation', 'createToken')
  await page.keyboard.press('Enter')
  await page.waitForFunction(`${areAlone}(${actors})`)
  await vault.backend.tokens.create({ id: 'since-filtered', type: 'token', data: 1 })
  await press(page, 'Filter')
  await waitForText(page, 'since-filtered')
})

test('filters that fit nothing, and wrong ones, say so', async () => {
  const { page } = await openLog()
  await page.type('#filter-operation', 'noOperation')
  await page.keyboard.press('Enter')
  await waitForText(page, 'No entry here')
  await press(page, 'Clear')
  await page.waitForSelector('tbody tr')
  await page.type('#filter-start_date', 'yesterday')
  await page.keyboard.press('Enter')
  await waitForText(page, 'Expected a day, such as 2026-03-01, or a time, such as')
  await page.waitForSelector('#filter-start_date[aria-invalid=true]')
  expect(await pageText(page)).not.toContain('Refused')
  await press(page, 'Clear')
  await page.waitForSelector('#filter-start_date[aria-invalid=false]')
  await page.waitForSelector('tbody tr')
})

const actors = `[...document.querySelectorAll('.given:not(.stale) td[data-label=By]')]
  .map(each => each.innerText.split('\\n')[0])`

const areAlone = `(all => all.length > 0 && all.every(each => each === 'private Backend'))`

async function filterBy(page: Page, name: string): Promise<void> {
  await press(page, 'Clear')
  await page.type('#filter-actor_id', name)
  await page.keyboard.press('Enter')
}

test('an application is found by its name, and only by one that is its alone', async () => {
  const { page } = await openLog()
  await filterBy(page, 'backend')
  await page.waitForFunction(`${areAlone}(${actors})`)
  await filterBy(page, 'Nobody')
  await waitForText(page, 'This key can look up no application of exactly this name')
  await page.waitForSelector('#filter-actor_id[aria-invalid=true]')
  await press(page, 'Clear')
  await page.waitForSelector('#filter-actor_id[aria-invalid=false]')
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const twin = { name: 'Twin', type: 'public', permissions: ['token:create'] } as const
  for (const each of [twin, twin]) await manager.applications.create(each)
  await press(page, 'Lock')
  await unlock(page, vault.managementKey)
  await press(page, 'Log')
  await page.waitForSelector('tbody tr')
  await filterBy(page, 'twin')
  await waitForText(page, 'Several applications have this name')
})

test('an application that was made since is found and shown by its name', async () => {
  const { page } = await openLog()
  // Its names are known from then on.
  await filterBy(page, 'backend')
  await page.waitForFunction(`${areAlone}(${actors})`)
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const made = await manager.applications.create({
    name: 'Made later',
    type: 'private',
    permissions: ['token:create'],
  })
  await fetch(`${vault.address}/applications/key`, { headers: { 'SVC-API-KEY': made.key } })
  // The entry of a read that shows no value is stored a little later than its answer.
  await until(async () => {
    const entries = await Array.fromAsync(await manager.logs.list({ actor_id: made.id }))
    return entries.length > 0
  })
  await filterBy(page, 'made later')
  await page.waitForFunction(`${actors}.includes('private Made later')`)
})

test('an application is shown by its name once it is made here', async () => {
  const { page } = await openLog()
  await press(page, 'Applications')
  await press(page, 'New application')
  await page.type('#new-name', 'Made here')
  await press(page, 'Make application')
  await press(page, 'I have copied it: see its page')
  await press(page, 'Log')
  await waitForText(page, 'application Made here')
})

test('a window of any width shows the log without a way sideways', async () => {
  const { page } = await openLog()
  for (const width of [375, 721, 768, 834, 961, 1081]) {
    await page.setViewport({ width, height: 900 })
    expect([width, await sideways(page)]).toEqual([width, 0])
  }
})

test('each entry tells its number, from which a webhook is told again', async () => {
  const { logs } = createClient({ address: vault.address, key: vault.managementKey })
  const [entry] = await Array.fromAsync(await logs.list({ entity_id: 'card-1' }))
  const { page } = await openLog()
  await page.type('#filter-entity_id', 'card-1')
  await page.keyboard.press('Enter')
  await waitForText(page, `entry ${entry?.sequence}\n`)
})

test('the way back from the entries of one thing leads to those before', async () => {
  await vault.backend.tokens.get('card-1')
  const { page } = await openLog()
  await press(page, 'card-1')
  await page.waitForFunction(`document.querySelector('#filter-entity_id').value === 'card-1'`)
  await press(page, 'createToken')
  await page.waitForFunction(`document.querySelector('#filter-operation').value === 'createToken'`)
  await page.goBack()
  await page.waitForFunction(`document.querySelector('#filter-operation').value === ''`)
  await press(page, 'Backend')
  await page.waitForFunction(`document.querySelector('#filter-actor_id').value !== ''`)
  await page.goBack()
  await page.waitForFunction(`document.querySelector('#filter-actor_id').value === ''`)
  await page.waitForFunction(`document.querySelector('#filter-entity_id').value === 'card-1'`)
  await page.goBack()
  await page.waitForFunction(`document.querySelector('#filter-entity_id').value === ''`)
  expect(await page.$eval('h1', each => each.textContent)).toBe('Log')
  await page.goBack()
  await page.waitForFunction(`document.querySelector('h1').innerText === 'Overview'`)
})

test('a proof moves none of the columns above it', async () => {
  const { page } = await openLog()
  await page.type('#filter-operation', 'createToken')
  await page.keyboard.press('Enter')
  // Its columns are as wide as its names.
  await page.waitForFunction(`${areAlone}(${actors})`)
  const lefts = `[...document.querySelectorAll('thead th')]
    .map(each => Math.round(each.getBoundingClientRect().left)).join()`
  const before = await page.evaluate(lefts)
  // The oldest is signed for long.
  await page.evaluate(`[...document.querySelectorAll('td .small')].at(-1).click()`)
  await waitForText(page, '✓ Proved.')
  expect(await page.evaluate(lefts)).toBe(before)
})

test('a key that may not read the log is told so', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await press(page, 'Log')
  await waitForText(page, 'This key lacks log:read')
  expect(await seriousIn(page, '.notice')).toEqual([])
})
