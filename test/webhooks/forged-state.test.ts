/**
 * The state of deliveries, which is not sealed, as anyone who writes to the store could change it.
 * @module
 */
import { expect, test } from 'bun:test'
import { deliveriesKey } from '../../src/audit/derived-keys.ts'
import { encodeState } from '../../src/webhooks/delivery-state.ts'
import { addTenant } from '../support/tenants.ts'
import { startWebhookReceiver } from '../support/webhook-receiver.ts'
import { openHookVault } from '../support/webhooks.ts'

const all = ['token.created', 'application.created', 'webhook.test']

/** Writes a state in which each entry below the end waits, and was given up as well. */
async function forgeState({ deps }: Awaited<ReturnType<typeof openHookVault>>, id: string) {
  const { next } = await deps.store.logRange()
  const each = Array.from({ length: next }, (_, sequence) => ({ sequence, place: 0, attempts: 1 }))
  const waiting = each.map(one => ({ ...one, nextMs: 0 }))
  const dead = each.map(one => ({ ...one, atMs: deps.now(), failure: '500' }))
  const value = encodeState({ cursor: next, ordersDone: 0, waiting, dead })
  expect(await deps.store.write([{ derived: deliveriesKey(id), value }])).toMatchObject({
    ok: true,
  })
  return next
}

// proves S43
test('that names entries of others, or older ones, has nothing of them sent or shown', async () => {
  using receiver = await startWebhookReceiver()
  const vault = await openHookVault(440)
  const other = await addTenant(vault)
  const as = { key: other.managementKey }
  await vault.makeTokens('of-another')
  const own = await other.application({ type: 'private', permissions: ['token:create'] })
  const make = async (id: string) => {
    const body = { id, type: 'token', data: 1 }
    expect((await vault.ask('POST', '/tokens', { key: own, body })).status).toBe(201)
  }
  await make('older')
  const hook = { name: 'a', url: receiver.url, events: all }
  const made = await vault.ask('POST', '/webhooks', { ...as, body: hook })
  const path = `/webhooks/${String(made.body['id'])}`
  await make('own')
  await vault.makeTokens('of-another-too')
  await vault.deps.audit.flush()
  const next = await forgeState(vault, String(made.body['id']))

  const { body } = await vault.ask('GET', `${path}/deliveries?size=100`, as)
  const shown = body['data'] as readonly { readonly type?: string }[]
  expect(shown.map(({ type }) => type).filter(type => type !== undefined)).toEqual([
    'token.created',
    'token.created',
  ])
  for (let sequence = 0; sequence < next; sequence += 1) {
    const retried = await vault.ask('POST', `${path}/deliveries/${sequence}/retry`, as)
    expect(retried.status).toBe(204)
  }
  await vault.deliverUntil(() => receiver.messages.length >= 2)
  for (let ticks = 0; ticks < 5; ticks += 1) await vault.tick()
  await vault.restart()
  await vault.tick()
  expect(receiver.messages.map(({ body: { data } }) => data['token']?.id)).toEqual(['own', 'own'])
})
