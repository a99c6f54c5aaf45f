/**
 * Readers of events far behind in a log whose entries are long: each tells of a thousand things.
 */
import { beforeEach, expect, test } from 'bun:test'
import { setImmediate } from 'node:timers/promises'
import { deliveriesKey } from '../../src/audit/derived-keys.ts'
import type { Deps } from '../../src/deps.ts'
import type { Send } from '../../src/egress/send.ts'
import { ApiError } from '../../src/lib/errors.ts'
import type { TurnOwner } from '../../src/lib/turn-queue.ts'
import { makeScheduler } from '../../src/lib/work.ts'
import { feedEventsMax } from '../../src/limits/limits.ts'
import { bulkTurnMsMax, catchUpMsMax } from '../../src/limits/work-limits.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { makeDeliverer } from '../../src/webhooks/couriers.ts'
import { readDeliveries } from '../../src/webhooks/list-deliveries.ts'
import { encodeState } from '../../src/webhooks/delivery-state.ts'
import { makeWaitingWebhook } from '../support/waiting-webhook.ts'
import { until } from '../support/until.ts'
import { requestOf } from '../support/vault.ts'
import { openHookVault, strictSend, type HookVault } from '../support/webhooks.ts'

const things = 1_000
const entries = 40
const reader = {
  tenantId: 'any',
  applicationId: 'any',
  credential: { ordinal: 7, version: 1, uniques: [] },
}

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
  let [opened, most, openedEver] = [0, 0, 0]
  let isOver = false
  // A bundle takes a whole turn, whatever the speed of the machine.
  const elapsedMs = () => openedEver * bulkTurnMsMax
  const others = async (): Promise<void> => {
    while (!isOver) {
      await setImmediate()
      most = Math.max(most, opened)
      opened = 0
    }
  }
  const counting = others()
  const keys = {
    ...deps.keys,
    get auditKey() {
      opened += 1
      openedEver += 1
      return deps.keys.auditKey
    },
  }
  await work({ ...deps, keys, elapsedMs, turns: makeScheduler(elapsedMs) })
  isOver = true
  await counting
  return most
}

test('a webhook that catches up lets others run between bundles', async () => {
  expect((await vault.manage('POST', `/webhooks/${hookId}/replay`, { from: 0 })).status).toBe(204)
  const opened = await openedAtOnce(async counted => {
    const deliverer = makeDeliverer(counted, strictSend(), () => true)
    await deliverer.tick()
    await deliverer.end()
  })
  expect(opened).toBeGreaterThan(0)
  expect(opened).toBeLessThan(3)
})

/** Counts the bundles that are opened: each takes all the time that a webhook has at once. */
function openSlowly(vaultDeps: Deps) {
  let opened = 0
  const keys = {
    ...vaultDeps.keys,
    get auditKey() {
      opened += 1
      return vaultDeps.keys.auditKey
    },
  }
  const elapsedMs = () => opened * catchUpMsMax
  return { slow: { ...vaultDeps, keys, elapsedMs }, opened: () => opened }
}

/** @returns where each message goes that is sent, by the ids of webhooks */
function sending() {
  const told: string[] = []
  const send: Send = async ({ headers }) => {
    told.push(String(headers['webhook-id']).slice(0, hookId.length))
    return { status: 204, retryAfterSeconds: undefined, body: new Uint8Array() }
  }
  return { told, send }
}

const deadline = Date.UTC(2040, 0)
/** One event of each entry waits, of the webhook that was made first. */
async function letAllWait(nextMs: number): Promise<void> {
  const { next } = await deps.store.logRange()
  const waiting = Array.from({ length: entries }, (_, at) => ({
    sequence: next - entries + at,
    place: 0,
    attempts: 1,
    nextMs,
    failure: '500',
  }))
  const value = encodeState({ cursor: next, ordersDone: 0, waiting, dead: [] })
  await deps.store.write([{ derived: deliveriesKey(hookId), value }])
}

// proves C18.16
test.each([
  [
    'catches up',
    async () => void (await vault.manage('POST', `/webhooks/${hookId}/replay`, { from: 0 })),
  ],
  ['has many that wait', () => letAllWait(deadline)],
])('a webhook that %s keeps nothing new from another', async (_, begin) => {
  await begin()
  const { id } = await vault.hook('https://hooks.example/', ['token.created'])
  const { slow, opened } = openSlowly(deps)
  const { told, send } = sending()
  const deliverer = makeDeliverer(slow, send, () => true)
  const first = deliverer.tick()
  await vault.makeTokens('new')
  await vault.deps.audit.flush()
  await first
  await until(async () => {
    await deliverer.tick()
    return told.length > 0
  })
  expect(told).toEqual([id])
  expect(opened()).toBeLessThan(entries)
  await deliverer.end()
})

// proves C18.4
test('what waits is not lost where the store cannot be read as the vault begins', async () => {
  await letAllWait(0)
  const { told, send } = sending()
  let failures = entries / 2
  const bundles: Deps['store']['bundles'] = async (range, limit) => {
    failures -= 1
    if (failures > 0) throw new ApiError('unavailable', 'The database does not answer.')
    return deps.store.bundles(range, limit)
  }
  const failing = { ...deps, store: { ...deps.store, bundles } }
  const deliverer = makeDeliverer(failing, send, () => true)
  await until(async () => {
    await deliverer.tick().catch(() => {})
    return told.length === entries
  })
  // The last one has its answer, and is taken for delivered in the same turn of the loop.
  await setImmediate()
  await deliverer.end()
  const state = await readDeliveries(
    deps,
    reader,
    { id: hookId, tenantId, from: 0 },
    { offset: 0, limit: 1 },
  )
  expect(state.total).toBe(0)
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
  const { items } = await readDeliveries(
    counted,
    reader,
    { id, tenantId, from: 0 },
    { offset: 0, limit: 100 },
  )
  expect(items.map(text => (JSON.parse(text) as { readonly type: string }).type)).toEqual(
    Array.from({ length: 100 }, () => 'token.read'),
  )
  expect(reads).toBe(1)
})

// proves E10.27
test('deliveries are listed in turns of who asks, not in those of couriers', async () => {
  const id = await makeWaitingWebhook(vault)
  const owners: TurnOwner[] = []
  const turns = {
    ...deps.turns,
    async next(owner: TurnOwner) {
      owners.push(owner)
    },
  }
  const { items } = await readDeliveries(
    { ...deps, turns },
    reader,
    { id, tenantId, from: 0 },
    { offset: 0, limit: 1 },
  )
  expect(items).toHaveLength(1)
  expect(new Set(owners)).toEqual(new Set([reader]))
})
