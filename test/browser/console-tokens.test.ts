/**
 * The console's screens of tokens, against the compiled binary in Chromium.
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
  reveal,
  sideways,
  unlock,
  waitForText,
} from './support/console.ts'
import { seriousIn } from './support/findings.ts'
import { openVault, type DevVault } from './support/vaults.ts'

let vault: DevVault
/** Key that sees masks alone. */
let deskKey: string

beforeAll(async () => {
  vault = await openVault()
  const manager = createClient({ address: vault.address, key: vault.managementKey })
  const { key } = await manager.applications.create({
    name: 'Support desk',
    type: 'private',
    rules: [
      {
        priority: 1,
        container: '/',
        transform: 'mask',
        permissions: ['token:read', 'token:search'],
      },
    ],
  })
  deskKey = key
  for (let index = 0; index < 25; index += 1) {
    const data = `person${index}@example.com`
    await vault.backend.tokens.create({ type: 'email', data, metadata: { number: String(index) } })
  }
  await vault.backend.tokens.create({
    id: 'order-17',
    type: 'card',
    data: { number: '4242424242424242', expiration_month: 10, expiration_year: 2030 },
    metadata: { order: '17' },
  })
})

describe.each(looks)('a support desk, $scheme and $width wide', look => {
  test('finds a card by its order, and sees its mask, why, and what it lacks', async () => {
    const opened = await openConsole(vault, look)
    const { page } = opened
    expect(await seriousIn(page, '#key')).toEqual([])
    await unlock(page, deskKey)
    await waitForText(page, 'order-17')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, '#query')).toEqual([])
    await page.focus('#query')
    await page.keyboard.type('metadata.order:17')
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    // From the field past its button, the help, the containers and all tokens to the one row.
    for (let steps = 0; steps < 5; steps += 1) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await waitForText(page, 'XXXXXXXXXXXX4242')
    await waitForText(page, 'A management key with log:read shows here who saw this token.')
    const text = await pageText(page)
    expect(text).not.toContain('This key lacks')
    expect(text).toContain('Masked: rule 0 (priority 1, container /) decides.')
    expect(text).toContain('/pci/high/')
    expect(text).not.toContain('4242424242424242')
    expect(await sideways(page)).toBe(0)
    expect(await seriousIn(page, 'dl')).toEqual([])
    await expectClean(opened, vault, [deskKey, 'XXXXXXXXXXXX4242', 'metadata.order'])
  })
})

test('pages lead on and back', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, deskKey)
  await waitForText(page, 'order-17')
  await press(page, 'Older')
  await waitForText(page, 'Page 2')
  await page.waitForFunction(`!document.body.innerText.includes('order-17')`)
  await page.waitForSelector('tbody tr')
  await press(page, 'Newer')
  await waitForText(page, 'order-17')
})

test('a screen and a search that are asked for again show what has come since', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, deskKey)
  await waitForText(page, 'order-17')
  const come = (id: string) =>
    vault.backend.tokens.create({ id, type: 'email', data: `${id}@example.com` })
  await come('since-opened')
  await press(page, 'Tokens')
  await waitForText(page, 'since-opened')
  await page.type('#query', 'type:email')
  await press(page, 'Find')
  await page.waitForFunction(`!document.body.innerText.includes('order-17')`)
  await come('since-found')
  await press(page, 'Find')
  await waitForText(page, 'since-found')
})

test('a query that is wrong, and one that finds nothing, say so', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, deskKey)
  await page.waitForSelector('#query')
  await page.type('#query', 'colour:red')
  await page.keyboard.press('Enter')
  await waitForText(page, 'expected one of the fields')
  await waitForText(page, 'Name the field before what you look for: id:order-17, metadata.')
  await page.$eval('#query', field => {
    const { select } = field as unknown as { select: () => void }
    select.call(field)
  })
  await page.type('#query', 'type:iban')
  await page.keyboard.press('Enter')
  await waitForText(page, 'Nothing found')
  // There is no way to other pages where there are none.
  expect(await pageText(page)).not.toContain('Older')
})

test('a key that may not read tokens is told which permission it lacks', async () => {
  const { page } = await openConsole(vault)
  await unlock(page, vault.managementKey)
  await press(page, 'Tokens')
  await waitForText(page, 'This key lacks token:read')
  await waitForText(page, 'use one of a private application; a manager makes one')
  expect(await seriousIn(page, '.notice')).toEqual([])
})

test('a backend that reveals sees exact numbers, and no part of them rounded', async () => {
  const body = '{"id":"exact","type":"token","data":{"n":12345678901234567890123,"f":1.0}}'
  const headers = { 'SVC-API-KEY': vault.privateKey, 'Content-Type': 'application/json' }
  await fetch(`${vault.address}/tokens`, { method: 'POST', headers, body })
  const { page } = await openConsole(vault)
  await unlock(page, vault.privateKey)
  await press(page, 'exact')
  await reveal(page)
  await waitForText(page, '12345678901234567890123')
  await waitForText(page, '"f": 1.0')
})

describe('a hostile token breaks no screen', () => {
  const markup = '<img src=x onerror="globalThis.hit = 1"><script>globalThis.hit = 1</script>'
  const turned = 'safe\u202Egnp.exe\u2066\u200Bend'
  const samples: readonly (readonly [string, unknown, string])[] = [
    ['markup', markup, '<img src=x'],
    ['turned', turned, '⟨202E⟩'],
    ['blank', 'safe\u3164end', '⟨3164⟩'],
    ['huge', 'a'.repeat(512 * 1_024 - 2), 'Show more (522,286 characters left)'],
    ['wide', Array.from({ length: 10_000 }, (_, index) => ({ index })), 'Show more'],
  ]
  // proves S100
  test.each(samples)('%s', async (name, data, shows) => {
    const id = `hostile-${name}`
    await vault.backend.tokens.create({ id, type: 'token', data, metadata: { markup, turned } })
    const opened = await openConsole(vault, { width: 375 })
    const { page } = opened
    await unlock(page, vault.privateKey)
    await press(page, id)
    await reveal(page)
    await waitForText(page, shows)
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    expect(await page.$$('main img, main script')).toHaveLength(0)
    expect(await sideways(page)).toBe(0)
    await expectClean(opened, vault, [vault.privateKey])
  })

  test('10,000 containers and pairs', async () => {
    const opened = await openConsole(vault, { width: 375 })
    const { page } = opened
    await page.setRequestInterception(true)
    const containers = Array.from({ length: 10_000 }, (_, index) => `/pci/${index}/`)
    const metadata = Object.fromEntries(containers.map(path => [path, turned]))
    page.on('request', request => {
      const isToken = new URL(request.url()).pathname.endsWith('/tokens/order-17')
      const body = JSON.stringify({ id: 'order-17', type: 'token', containers, metadata })
      void (isToken
        ? request.respond({ status: 200, contentType: 'application/json', body })
        : request.continue())
    })
    await unlock(page, deskKey)
    await page.type('#query', 'id:order-17')
    await page.keyboard.press('Enter')
    await page.waitForFunction(`document.querySelectorAll('tbody tr').length === 1`)
    await press(page, 'order-17')
    await waitForText(page, 'Show more (9,980 left)')
    expect(await page.$$('.items li')).toHaveLength(40)
    expect(await sideways(page)).toBe(0)
    expect(opened.complaints).toEqual([])
  })
})
