/**
 * Webhooks and the state of their deliveries as anyone who writes to the store could change them.
 * @module
 */
import { expect, test } from 'bun:test'
import { deliveriesKey } from '../../src/audit/derived-keys.ts'
import { utf8 } from '../../src/lib/bytes.ts'
import { makeDeliverer } from '../../src/webhooks/couriers.ts'
import { encodeState } from '../../src/webhooks/delivery-state.ts'
import { webhookUnique } from '../../src/webhooks/webhook-record.ts'
import { makeTestSend } from '../support/receivers.ts'
import { addTenant } from '../support/tenants.ts'
import { until } from '../support/until.ts'
import { idsOf, startWebhookReceiver } from '../support/webhook-receiver.ts'
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
test('a state that names entries of others has nothing of them sent or shown', async () => {
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

const waiting = { sequence: 0, place: 0, attempts: 1, nextMs: 0 }
const dead = { sequence: 0, place: 0, attempts: 1, atMs: 0, failure: '500' }
const sound = { cursor: 1_000, ordersDone: 0, waiting: [], dead: [] }

// proves S43
test.each<[string, unknown]>([
  ['no members', null],
  ['a list', []],
  ['a negative cursor', { ...sound, cursor: -1 }],
  ['half an order', { ...sound, ordersDone: 0.5 }],
  ['a begin of failures that is a text', { ...sound, failingSinceMs: 'a' }],
  ['one that waits and is a number', { ...sound, waiting: [1] }],
  ['one that waits and is nothing', { ...sound, waiting: [null] }],
  ['one that waits without a place', { ...sound, waiting: [{ ...waiting, place: undefined }] }],
  ['one that waits for no instant', { ...sound, waiting: [{ ...waiting, nextMs: 'a' }] }],
  [
    'one that waits after a failure in words',
    { ...sound, waiting: [{ ...waiting, failure: 'A b' }] },
  ],
  ['one that was given up and is a text', { ...sound, dead: ['a'] }],
  ['one that was given up before its log', { ...sound, dead: [{ ...dead, sequence: -1 }] }],
  ['one that was given up at no instant', { ...sound, dead: [{ ...dead, atMs: null }] }],
  ['one that was given up for a list', { ...sound, dead: [{ ...dead, failure: ['500'] }] }],
])('a state with %s counts as none: all is delivered', async (_, state) => {
  using receiver = await startWebhookReceiver()
  const vault = await openHookVault(442)
  const { id } = await vault.hook(receiver.url, ['token.created'])
  await vault.makeTokens('t-1')
  const value = utf8(JSON.stringify(state))
  const put = { derived: deliveriesKey(id), value }
  expect(await vault.deps.store.write([put])).toMatchObject({ ok: true })
  const as = { key: vault.managementKey }
  const listed = await vault.ask('GET', `/webhooks/${id}/deliveries`, as)
  expect([listed.status, listed.body['data']]).toEqual([200, []])
  await vault.deliverUntil(() => receiver.messages.length > 0)
  expect(receiver.messages.map(({ body: { data } }) => data['token']?.id)).toEqual(['t-1'])
})

// proves S10
test('a webhook whose row is damaged gets nothing, and all others are served', async () => {
  using receiver = await startWebhookReceiver()
  const vault = await openHookVault(441)
  const { deps } = vault
  await vault.hook(receiver.url, ['token.created'])
  const { id } = await vault.hook(receiver.url, ['token.created'])
  const damaged = await deps.store.find(webhookUnique(deps.keys, vault.tenantId, id))
  const page: typeof deps.store.page = async (query, window) => {
    const found = await deps.store.page(query, window)
    const rows = found.rows.map(row =>
      row.ordinal === damaged?.ordinal
        ? { ...row, parts: row.parts.map(part => part.map(byte => byte ^ 1)) }
        : row,
    )
    return { ...found, rows }
  }
  const logged: unknown[] = []
  const log: typeof deps.log = (event, facts) => void logged.push([event, facts])
  const store = { ...deps.store, page }
  const deliverer = makeDeliverer({ ...deps, store, log }, makeTestSend(), () => true)
  await vault.makeTokens('t-1')
  await deps.audit.flush()
  await until(async () => {
    await deliverer.tick()
    return receiver.messages.length > 0
  })
  await deliverer.end()
  expect(idsOf(receiver)).toEqual(['t-1'])
  expect(logged).toEqual([['webhook_damaged', { row: damaged?.ordinal }]])
})
