/**
 * Turns to send that all webhooks share: receivers that hold theirs leave others their share.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { webhooksPerTenantMax } from '../../src/limits/limits.ts'
import {
  deliveriesMax,
  deliveriesPerTenantMax,
  deliveriesPerWebhookMax,
} from '../../src/limits/work-limits.ts'
import { addTenant } from '../support/tenants.ts'
import { openHookVault } from '../support/webhooks.ts'

const webhooksThatHoldAll = deliveriesMax / deliveriesPerWebhookMax

describe('webhooks whose receivers hold all turns', () => {
  test('leave the next ones to those who have none', async () => {
    const sentTo: string[] = []
    const held: (() => void)[] = []
    const vault = await openHookVault(
      600,
      ({ destination }) =>
        new Promise(resolve => {
          sentTo.push(destination.target)
          held.push(() => resolve({ failure: 'timeout' }))
        }),
    )
    const events = ['token.created']
    await vault.hook('https://hooks.example/own', events)
    for (let tenant = 0; tenant * webhooksPerTenantMax <= webhooksThatHoldAll; tenant += 1) {
      const other = await addTenant(vault)
      const url = 'https://hooks.example/slow'
      for (let hook = 0; hook < webhooksPerTenantMax; hook += 1) {
        const asked = { key: other.managementKey, body: { name: 'slow', url, events } }
        expect((await vault.ask('POST', '/webhooks', asked)).status).toBe(201)
      }
      const key = await other.application({ type: 'private', permissions: ['token:create'] })
      const body = Array.from({ length: 2 * deliveriesPerWebhookMax }, () => 'of others')
      expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
    }
    await vault.deliverUntil(() => held.length === deliveriesMax)
    await vault.makeTokens('own')
    await vault.tick()
    expect(sentTo).not.toContain('/own')
    // Some of the slow ones have no turn either.
    const given = webhooksPerTenantMax
    for (const end of held.slice(0, given)) end()
    await vault.deliverUntil(() => held.length === deliveriesMax + given)
    expect(sentTo.slice(deliveriesMax)).toContain('/own')
  })

  // proves C18.16
  test('of one tenant, switched off and on again, take no turn of another', async () => {
    const sentTo: string[] = []
    const vault = await openHookVault(601, ({ destination }) => {
      sentTo.push(destination.target)
      return new Promise(() => {})
    })
    const events = ['token.created']
    await vault.hook('https://hooks.example/own', events)
    const other = await addTenant(vault)
    const manage = (method: string, path: string, body: object) =>
      vault.ask(method, path, { key: other.managementKey, body })
    const slow = { name: 'slow', url: 'https://hooks.example/slow', events }
    const made = await manage('POST', '/webhooks', slow)
    const key = await other.application({ type: 'private', permissions: ['token:create'] })
    const body = Array.from({ length: deliveriesMax }, () => 'of others')
    expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
    await vault.deliverUntil(() => sentTo.length === deliveriesPerWebhookMax)
    for (let round = 0; round < 2 * webhooksThatHoldAll; round += 1) {
      const status = round % 2 === 0 ? 'disabled' : 'enabled'
      const path = `/webhooks/${String(made.body['id'])}`
      expect((await manage('PUT', path, { ...slow, status })).status).toBe(200)
      await vault.tick()
      await vault.tick()
    }
    expect(vault.figures().underWay).toBe(deliveriesPerTenantMax)
    await vault.makeTokens('own')
    await vault.deliverUntil(() => sentTo.includes('/own'))
  })
})
