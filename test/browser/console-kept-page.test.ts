/**
 * The console in a browser that keeps pages which were left (the back/forward cache): the way back
 * never shows a value, whether the page was kept or is loaded anew.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'puppeteer-core'
import { atEnd } from '../support/at-end.ts'
import { launchKeeping } from './support/browsers.ts'
import { press, reveal, unlock, waitForText } from './support/console.ts'
import { openVault, type DevVault } from './support/vaults.ts'

interface Shown {
  /** True if the browser had kept the page. */
  readonly kept: boolean
  /** The document at that moment. */
  readonly html: string
}

let vault: DevVault
let browser: Browser
const value = 'seen-by-the-desk'

beforeAll(async () => {
  vault = await openVault()
  browser = await launchKeeping()
  await vault.backend.tokens.create({ id: 'seen', type: 'token', data: value })
})

/** Comes before all listeners of the page, which could still take a value away. */
const watch = `
globalThis.shown = []
addEventListener('pageshow', ({ persisted }) => {
  shown.push({ kept: persisted, html: document.documentElement?.outerHTML ?? '' })
})`

/** Reveals a value, goes to another page, comes back, and returns what is shown then. */
async function leaveAndComeBack(address: string): Promise<{ page: Page; shown: Shown }> {
  const page = await browser.newPage()
  await page.evaluateOnNewDocument(watch)
  await page.goto(`${address}/console`)
  await unlock(page, vault.privateKey)
  await press(page, 'seen')
  await reveal(page)
  await waitForText(page, value)
  await page.goto(`${address}/elements/card`)
  // Each place within the console is a step of the history.
  await page.goBack()
  await page.waitForFunction(`globalThis.shown?.length > 0 && location.pathname === '/console'`)
  await page.waitForSelector('#key')
  const shown = (await page.evaluate('shown.at(-1)')) as Shown
  return { page, shown }
}

async function expectNothingOf({ page, shown }: { page: Page; shown: Shown }): Promise<void> {
  const now = (await page.evaluate('document.documentElement.outerHTML')) as string
  for (const html of [shown.html, now]) {
    expect(html).not.toContain(value)
    expect(html).not.toContain(vault.privateKey)
  }
  expect(await page.$eval('#key', field => (field as unknown as { value: string }).value)).toBe('')
}

// proves S101
test('the console is not kept, and the way back leads to a locked one', async () => {
  const back = await leaveAndComeBack(vault.address)
  expect(back.shown.kept).toBe(false)
  const reasons = `JSON.stringify(
    performance.getEntriesByType('navigation')[0].notRestoredReasons)`
  expect(await back.page.evaluate(reasons)).toContain('response-cache-control-no-store')
  await expectNothingOf(back)
})

/** A server before the vault that takes away what forbids to keep a page. */
function startForgetful(): string {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const { method } = request
      const body = method === 'POST' ? { body: await request.text() } : {}
      const sent = { method, headers: request.headers, ...body }
      const answer = await fetch(`${vault.address}${pathname}${search}`, sent)
      const headers = new Headers(answer.headers)
      for (const name of ['cache-control', 'content-length']) headers.delete(name)
      return new Response(await answer.arrayBuffer(), { status: answer.status, headers })
    },
  })
  atEnd(() => server.stop(true))
  return server.url.origin
}

// proves S101
test('where something lets a browser keep it all the same, the kept page is locked', async () => {
  const back = await leaveAndComeBack(startForgetful())
  expect(back.shown.kept).toBe(true)
  await expectNothingOf(back)
})
