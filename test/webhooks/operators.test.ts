/**
 * Webhooks as an operator sees them: by metrics of a running server, by `coffer doctor` of a
 * stopped one.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { runCoffer } from '../support/coffer-process.ts'
import { openHookedServer } from '../support/hooked-server.ts'
import { startWebhookReceiver, accept, answerWith } from '../support/webhook-receiver.ts'
import { scraperOf, valueOf } from '../support/scrape.ts'
import { until } from '../support/until.ts'
import { openHookVault } from '../support/webhooks.ts'

describe('numbers of deliveries', () => {
  test('are of attempts by outcome, of what is parked, and of how far the slowest is', async () => {
    using receiver = await startWebhookReceiver()
    const vault = await openHookVault(420)
    await vault.hook(receiver.url, ['token.created'])
    const clean = { parked: 0, dead: 0, lagEntries: 0, lagMs: 0, underWay: 0, disabled: 0 }
    await vault.makeTokens('t-1')
    await vault.deliverUntil(() => vault.figures().attempts.done === 1)
    await vault.tick()
    expect(vault.figures()).toMatchObject({ ...clean, enabled: 1 })
    receiver.answer = answerWith(500)
    await vault.makeTokens('t-2', 't-3')
    await vault.deliverUntil(() => vault.figures().attempts.again === 2)
    expect(vault.figures()).toMatchObject({ parked: 2, dead: 0, attempts: { done: 1, dead: 0 } })
    receiver.answer = accept
    await vault.deliverUntil(() => vault.figures().parked === 0)
    expect(vault.figures().attempts).toMatchObject({ done: 3, gone: 0 })
  })

  test('say how far a webhook is behind whose receiver takes nothing', async () => {
    using receiver = await startWebhookReceiver()
    const vault = await openHookVault(421)
    await vault.hook(receiver.url, ['token.created'])
    receiver.answer = () => {}
    await vault.makeTokens(...Array.from({ length: 200 }, (_, at) => `t-${at}`))
    await vault.tick()
    vault.clock.advance(60_000)
    const { lagEntries, lagMs, underWay } = vault.figures()
    expect(lagEntries).toBeGreaterThan(0)
    expect(lagMs).toBeGreaterThanOrEqual(60_000)
    expect(underWay).toBeGreaterThan(0)
  })
})

test('a webhook that the vault has disabled is told by a metric and by doctor', async () => {
  const hooked = await openHookedServer({ serve: ['--ops-port', '0'] })
  const scraper = scraperOf(/http:\/\/\S+:\d+/.exec(hooked.server().ready)?.[0] ?? '')
  const metric = async (line: string) => valueOf(await scraper.metrics(), line)
  await until(async () => (await metric('coffer_webhooks_enabled')) === 1)
  expect(await metric('coffer_webhooks_disabled')).toBe(0)
  hooked.receiver.answer = answerWith(410)
  let count = 0
  await hooked.work('t', () => (count += 1) > 1)
  await until(async () => (await metric('coffer_webhooks_disabled')) === 1)
  expect(await metric('coffer_webhook_attempts_total{outcome="gone"}')).toBeGreaterThan(0)
  expect(await metric('coffer_webhooks_enabled')).toBe(0)
  expect(await metric('coffer_audit_log_bytes')).toBeGreaterThan(0)
  expect(await metric('coffer_audit_log_budget_bytes')).toBeGreaterThan(0)
  await hooked.end()
  const key = join(dirname(hooked.data), 'key')
  const looked = await runCoffer(['doctor', '--data', hooked.data, '--master-key-file', key])
  expect(looked.stdout).toMatch(
    /warning: webhooks: [\da-f-]{36} was disabled, since its receiver answered 410/,
  )
}, 300_000)
