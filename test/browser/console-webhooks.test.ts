/**
 * The console's screen of webhooks with a receiver that refuses and then takes, against the
 * compiled binary in Chromium.
 * @module
 */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { Page } from 'puppeteer-core'
import { createClient } from '../../src/client/index.ts'
import { openHookedServer, type HookedServer } from '../support/hooked-server.ts'
import { until } from '../support/until.ts'
import { accept, answerWith, idsOf, typesOf } from '../support/webhook-receiver.ts'
import { openConsole, pageText, press, sideways, unlock, waitForText } from './support/console.ts'
import { seriousIn } from './support/findings.ts'

let hooked: HookedServer

beforeEach(async () => {
  hooked = await openHookedServer()
})
afterEach(() => hooked.end())

/** Makes one token and deletes it. */
const workOnce = async (name: string) => {
  let count = 0
  return hooked.work(name, () => (count += 1) > 1)
}

interface Deliveries {
  readonly data: readonly unknown[]
}

async function firstWebhook(): Promise<string> {
  const { webhooks } = createClient({ address: hooked.address(), key: hooked.manager })
  return (await webhooks.list()).data[0]?.id ?? ''
}

async function openWebhooks(key = hooked.manager, look = {}): Promise<Page> {
  const { page } = await openConsole({ address: hooked.address() }, look)
  await unlock(page, key)
  await press(page, 'Webhooks')
  return page
}

/** Asks for the list anew until it says so: deliveries go while nobody looks. */
async function lookUntil(page: Page, text: string): Promise<void> {
  await until(async () => {
    if ((await pageText(page)).includes(text)) return true
    await press(page, 'Look again')
    await page.waitForSelector('section .given:not(.stale)')
    return false
  })
}

/** Opens the screen, and looks until the delivery of new work has failed. */
async function openFailed(): Promise<Page> {
  hooked.receiver.answer = answerWith(500)
  await workOnce('t')
  const page = await openWebhooks()
  await waitForText(page, 'Look again')
  await lookUntil(page, '500')
  return page
}

test('a delivery that failed is listed with its failure, and goes when sent again', async () => {
  const { receiver } = hooked
  const page = await openFailed()
  const row = String(await page.evaluate(`document.querySelector('tbody tr').innerText`))
  expect(row.replaceAll(/\s+/g, ' ')).toMatch(/token\.created \d+ waiting \d+ answered 500 /)
  receiver.answer = accept
  const tried = receiver.messages.length
  const top = () => page.evaluate(`document.querySelector('table').getBoundingClientRect().top`)
  const before = await top()
  await press(page, 'Send now')
  // The vault tries again by itself as well.
  await waitForText(page, 'is on its way')
  expect(await top()).toBe(before)
  await until(() => receiver.messages.length > tried)
  await lookUntil(page, 'Nothing waits for delivery')
  expect(await pageText(page)).not.toContain('is on its way')
})

test('a delivery that has arrived meanwhile is told so, and leaves the list', async () => {
  const { receiver } = hooked
  const page = await openFailed()
  // The second waits for the first.
  await waitForText(page, 'in its turn')
  receiver.answer = accept
  const row = String(await page.evaluate(`document.querySelector('tbody tr').innerText`))
  const sequence = /token\.created\s+(\d+)/.exec(row)?.[1]
  const path = `${hooked.address()}/webhooks/${await firstWebhook()}/deliveries`
  const headers = { 'svc-api-key': hooked.manager }
  const retried = await fetch(`${path}/${sequence}/retry`, { method: 'POST', headers })
  expect(retried.ok).toBe(true)
  await until(async () => {
    const listed = (await (await fetch(path, { headers })).json()) as Deliveries
    return listed.data.length === 0
  })
  await press(page, 'Send now')
  await waitForText(page, `Entry ${sequence} waits no more: it has arrived meanwhile.`)
  await waitForText(page, 'Nothing waits for delivery')
  expect(await pageText(page)).not.toContain('Refused')
})

test('in a narrow window rows follow their head, stay, and the outcome is in view', async () => {
  hooked.receiver.answer = answerWith(500)
  await workOnce('t')
  const page = await openWebhooks(hooked.manager, { width: 375 })
  await waitForText(page, 'Look again')
  await lookUntil(page, '500')
  const top = () => page.evaluate(`document.querySelector('table').getBoundingClientRect().top`)
  const head = `document.querySelector('.deliveries button').getBoundingClientRect().bottom`
  expect(Number(await top()) - Number(await page.evaluate(head))).toBeLessThan(25)
  await page.evaluate('scrollTo(0, document.body.scrollHeight)')
  const before = await top()
  await press(page, 'Send now')
  await waitForText(page, 'is on its way')
  expect(await top()).toBe(before)
  const shown = `(box => box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth)
    (document.querySelector('.deliveries p').getBoundingClientRect())`
  expect(await page.evaluate(shown)).toBe(true)
  expect(await sideways(page)).toBe(0)
})

test('outcomes of several webhooks do not lie over one another', async () => {
  const manager = createClient({ address: hooked.address(), key: hooked.manager })
  await manager.webhooks.create({
    name: 'Second',
    url: 'https://hooks.invalid/coffer',
    events: ['token.created'],
  })
  const page = await openWebhooks(hooked.manager, { width: 375 })
  for (const name of ['a', 'Second']) {
    const button = `[aria-label="Send a test event to ${name}"]`
    await page.waitForSelector(button)
    await page.$eval(button, each => void (each as unknown as { click: () => void }).click())
    await page.waitForSelector(`[aria-label="Webhook ${name}"] .deliveries p:not(:empty)`)
  }
  expect(await page.$$('.deliveries p:not(:empty)')).toHaveLength(1)
})

test('a test event and a replay arrive', async () => {
  const { receiver } = hooked
  await hooked.receive(await workOnce('t'))
  const page = await openWebhooks()
  await press(page, 'Send a test event')
  await waitForText(page, 'A test event is on its way.')
  await until(() => typesOf(receiver).includes('webhook.test'))
  const before = idsOf(receiver).filter(id => id === 't-0').length
  await page.type('input', '0')
  await press(page, 'Replay')
  await press(page, 'Send all once more')
  await waitForText(page, 'All from that entry on are on their way once more.')
  await until(() => idsOf(receiver).filter(id => id === 't-0').length >= 2 * before)
})

test('a key that sees webhooks and may send nothing is told what it lacks', async () => {
  const manager = createClient({ address: hooked.address(), key: hooked.manager })
  const { key } = await manager.applications.create({
    name: 'Looks on',
    type: 'management',
    permissions: ['webhook:read'],
  })
  const page = await openWebhooks(key)
  await waitForText(
    page,
    'To send a test event or to send again it takes a key with webhook:update.',
  )
  expect(await page.$$eval('section button', all => all.map(each => each.textContent))).toEqual([
    'Look again',
  ])
  expect(await seriousIn(page, 'dl')).toEqual([])
})
