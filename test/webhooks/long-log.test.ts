/**
 * Readers of events far behind in a log whose entries are long: each tells of a thousand things.
 */
import { beforeEach, expect, test } from 'bun:test'
import { deliveriesKey } from '../../src/audit/derived-keys.ts'
import type { Deps } from '../../src/deps.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { feedEventsMax } from '../../src/limits/limits.ts'
import { catchUpMsMax } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { makeDeliverer } from '../../src/webhooks/deliver.ts'
import { readDeliveries } from '../../src/webhooks/deliveries.ts'
import { encodeState } from '../../src/webhooks/delivery-state.ts'
import { requestOf } from '../support/vault.ts'
import { openHookVault, strictSend, type HookVault } from '../support/webhooks.ts'

const things = 1_000
const entries = 40

let vault: HookVault
let deps: Deps
let tenantId: string
let hookId: string
beforeEach(async () => {
  vault = await openHookVault(700)
  const elapsedMs = () => performance.now()
  deps = { ...vault.deps, elapsedMs, turns: makeScheduler(elapsedMs) }
  tenantId = String((await vault.manage('GET', '/tenants/self')).body['id'])
  hookId = (await vault.hook('https://hooks.example/', ['token.deleted'])).id
  const entityIds = Array.from({ length: things }, (_, i) => `t-${i}`.padEnd(400, 'x'))
  for (let i = 0; i < entries; i += 1) {
    const entry = { atMs: deps.now(), tenantId, operation: 'detokenize', entityIds, result: 200 }
    await deps.store.write([deps.audit.changeOf(entry)])
  }
})

/** Returns how many bundles were opened between two turns of others, at most. */
async function openedAtOnce(work: (deps: Deps) => Promise<unknown>): Promise<number> {
  let [opened, most] = [0, 0]
  let isOver = false
  const others = (): void => {
    most = Math.max(most, opened)
    opened = 0
    if (!isOver) setImmediate(others)
  }
  setImmediate(others)
  const keys = {
    ...deps.keys,
    get auditKey() {
      opened += 1
      return deps.keys.auditKey
    },
  }
  await work({ ...deps, keys })
  isOver = true
  return Math.max(most, opened)
}

test('a webhook that catches up lets others run between bundles', async () => {
  expect((await vault.manage('POST', `/webhooks/${hookId}/replay`, { from: 0 })).status).toBe(204)
  const opened = await openedAtOnce(async counted => {
    const deliverer = makeDeliverer(counted, strictSend(), () => true)
    await deliverer.tick()
    await deliverer.end()
  })
  expect(opened).toBeGreaterThan(0)
  expect(opened).toBeLessThan(entries / 2)
})

// proves C18.16
test('a webhook that catches up keeps nothing new from another', async () => {
  const { id } = await vault.hook('https://hooks.example/', ['token.created'])
  await vault.manage('POST', `/webhooks/${hookId}/replay`, { from: 0 })
  let opened = 0
  const keys = {
    ...deps.keys,
    get auditKey() {
      opened += 1
      return deps.keys.auditKey
    },
  }
  const elapsedMs = () => opened * catchUpMsMax
  const told: string[] = []
  const deliverer = makeDeliverer(
    { ...deps, keys, elapsedMs },
    async ({ headers }) => {
      told.push(String(headers['webhook-id']))
      return { status: 204, retryAfterSeconds: undefined, body: new Uint8Array() }
    },
    () => true,
  )
  const first = deliverer.tick()
  await vault.makeTokens('new')
  await vault.deps.audit.flush()
  await first
  while (told.length === 0) await deliverer.tick()
  expect(told[0]).toStartWith(id)
  expect(deliverer.figures().lagEntries).toBeGreaterThan(0)
  await deliverer.end()
})

test('a page of the feed ends with the bundle that fills it', async () => {
  const app = buildApp(deps)
  const request = requestOf('GET', '/events?types=token.read', { key: vault.managementKey })
  const lines = (await (await app.handle(request)).text()).trimEnd().split('\n')
  expect(lines.length).toBe(feedEventsMax + 1)
})

test('deliveries of one entry are listed by opening it once', async () => {
  const { id } = await vault.hook('https://hooks.example/', ['token.read'])
  const { next } = await deps.store.logRange()
  const sequence = next - 2
  const waiting = Array.from({ length: things }, (_, place) => ({
    sequence,
    place,
    attempts: 1,
    nextMs: 0,
    failure: '500',
  }))
  const state = encodeState({ cursor: next, ordersDone: 0, waiting, dead: [] })
  await deps.store.write([{ derived: deliveriesKey(id), value: state }])
  let reads = 0
  const bundles: Deps['store']['bundles'] = (range, limit) => {
    reads += 1
    return deps.store.bundles(range, limit)
  }
  const counted = { ...deps, store: { ...deps.store, bundles } }
  const { items } = await readDeliveries(counted, { id, from: 0 }, 0, 100)
  expect(items.map(text => (JSON.parse(text) as { readonly type: string }).type)).toEqual(
    Array.from({ length: 100 }, () => 'token.read'),
  )
  expect(reads).toBe(1)
})
