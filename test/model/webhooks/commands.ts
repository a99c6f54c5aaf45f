/**
 * Commands on webhooks: each asks the vault and the model, once all is at rest.
 * @module
 */
import fc from 'fast-check'
import { picks, pickOf } from '../arbitraries.ts'
import type { JsonObject } from '../json.ts'
import * as predict from './answers.ts'
import { callerOf, callers, commandsOf, expectAnswer, pickWebhook } from './command.ts'
import { learnFeed } from './feed.ts'
import { comparePage } from './listed.ts'
import { comeToRest } from './rest.ts'
import type { Server } from './server.ts'
import { eventTypes, sequenceOf, type Model } from './state.ts'
import { nextTrace, tell } from './traffic.ts'

const names = fc.constantFrom('a', 'Orders', 'x'.repeat(200))
const hosts = fc.constantFrom('hooks.example', '127.1.0.1')
const events = fc.oneof(
  { arbitrary: fc.constant([...eventTypes]), weight: 4 },
  { arbitrary: fc.constant(['token.created', 'token.updated', 'token.deleted']), weight: 2 },
  { arbitrary: fc.uniqueArray(fc.constantFrom(...eventTypes), { minLength: 1 }), weight: 1 },
)
const bodies = fc.record({
  name: names,
  host: hosts,
  path: fc.constantFrom('/', '/a?key=planted', '/b/c?x=%20'),
  events,
  email: fc.constantFrom(undefined, null, 'ops@shop.example'),
  wrong: fc.oneof(
    { arbitrary: fc.constant({}), weight: 12 },
    {
      arbitrary: fc.constantFrom<JsonObject>(
        { name: '' },
        { name: 'x'.repeat(201) },
        { url: 'http://hooks.example/planted' },
        { url: 'https://10.9.9.9/planted' },
        { url: 'https://u:planted@hooks.example/' },
        { events: [] },
        { events: ['token.sold'] },
        { events: ['token.read', 'token.read'] },
        { notify_email: 7 },
      ),
      weight: 1,
    },
  ),
})
type Body = typeof bodies extends fc.Arbitrary<infer T> ? T : never

const bodyOf = ({ receiver }: Server, { name, host, path, wrong, ...rest }: Body): JsonObject => ({
  name,
  url: `https://${host}:${receiver.port}${path}`,
  events: rest.events,
  ...(rest.email === undefined ? {} : { notify_email: rest.email }),
  ...wrong,
})

/** Mostly one that is there; sometimes one that was deleted, or never was. */
const targets = fc.record({ pick: picks, kind: fc.nat({ max: 15 }) })

function targetOf(model: Model, { pick, kind }: { pick: number; kind: number }): string {
  const standing = pickWebhook(model, pick)?.id
  const gone = pickOf([...model.deleted], pick)
  const absent = '00000000-0000-4000-8000-000000000000'
  if (kind === 15 || standing === undefined) return gone ?? absent
  if (kind === 14) return absent
  return kind === 13 ? standing.toUpperCase() : standing
}

const asked = fc.record({ by: callers, target: targets })

export const creates = commandsOf(
  'create webhook',
  fc.record({ by: callers.filter(kind => kind !== 'stranger'), body: bodies }),
  async (model, server, { by, body }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const given = bodyOf(server, body)
    const answer = await server.send(caller.key, 'POST', '/webhooks', given)
    expectAnswer(model, answer, predict.createWebhook(model, caller, given, answer))
  },
)

export const lists = commandsOf(
  'list webhooks',
  fc.record({ by: callers, size: fc.integer({ min: 1, max: 100 }) }),
  async (model, server, { by, size }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const answer = await server.send(caller.key, 'GET', `/webhooks?size=${size}`)
    expectAnswer(model, answer, predict.listWebhooks(model, caller, size))
  },
)

export const gets = commandsOf('get webhook', asked, async (model, server, { by, target }) => {
  await comeToRest(model, server)
  const caller = callerOf(server, by)
  const id = targetOf(model, target)
  const answer = await server.send(caller.key, 'GET', `/webhooks/${id}`)
  expectAnswer(model, answer, predict.getWebhook(model, caller, id))
})

export const updates = commandsOf(
  'update webhook',
  fc.record({
    by: callers,
    target: targets,
    body: bodies,
    status: fc.constantFrom(undefined, null, 'enabled', 'enabled', 'disabled', 'planted'),
  }),
  async (model, server, { by, target, body, status }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const id = targetOf(model, target)
    const given = { ...bodyOf(server, body), ...(status === undefined ? {} : { status }) }
    const answer = await server.send(caller.key, 'PUT', `/webhooks/${id}`, given)
    expectAnswer(model, answer, predict.updateWebhook(model, caller, id, given))
    await comeToRest(model, server)
  },
)

export const deletes = commandsOf('delete webhook', asked, async (model, server, asking) => {
  await comeToRest(model, server)
  const caller = callerOf(server, asking.by)
  const id = targetOf(model, asking.target)
  const answer = await server.send(caller.key, 'DELETE', `/webhooks/${id}`)
  expectAnswer(model, answer, predict.deleteWebhook(model, caller, id))
  await comeToRest(model, server)
})

export const rotations = commandsOf(
  'rotate secret',
  fc.record({
    by: callers,
    target: targets,
    hours: fc.constantFrom(undefined, null, 0, 1, 24, 168, 169, -1, 1.5),
  }),
  async (model, server, { by, target, hours }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const id = targetOf(model, target)
    const body = hours === undefined ? {} : { overlap_hours: hours }
    const answer = await server.send(caller.key, 'POST', `/webhooks/${id}/rotate`, body)
    expectAnswer(model, answer, predict.rotateWebhook(model, caller, id, hours, answer))
  },
)

export const tests = commandsOf('test webhook', asked, async (model, server, { by, target }) => {
  await comeToRest(model, server)
  const caller = callerOf(server, by)
  const id = targetOf(model, target)
  const expected = predict.testWebhook(model, caller, id)
  const trace = nextTrace(model)
  const headers = { 'svc-trace-id': trace }
  const answer = await server.send(caller.key, 'POST', `/webhooks/${id}/test`, undefined, headers)
  expectAnswer(model, answer, expected)
  const told = { type: 'webhook.test', subject: 'webhook', ids: [id.toLowerCase()] } as const
  if (expected.status === 204) tell(model, server.keys.manager, trace, told)
  await comeToRest(model, server)
})

export const pages = commandsOf(
  'list deliveries',
  fc.record({
    by: callers,
    target: targets,
    page: fc.integer({ min: 1, max: 3 }),
    size: fc.integer({ min: 1, max: 5 }),
  }),
  async (model, server, { by, target, page, size }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const id = targetOf(model, target)
    const found = predict.findWebhook(model, caller, id, 'webhook:read')
    if (!predict.isRefused(found))
      return comparePage(server, found, caller.key ?? '', { page, size })
    const answer = await server.send(caller.key, 'GET', `/webhooks/${id}/deliveries?page=${page}`)
    expectAnswer(model, answer, found)
  },
)

/** A number of an entry that waits or was given up, of any entry, or none. */
function sequenceFor(model: Model, id: string, pick: number): string {
  const { deliveries = [], dead = [] } = model.webhooks.get(id.toLowerCase()) ?? {}
  const open = [...dead, ...deliveries].flatMap(({ event }) => sequenceOf(event) ?? [])
  const any = model.events.flatMap(event => sequenceOf(event) ?? [])
  const odd = pickOf(['007', 'x', '999999999', '-1'], pick) ?? ''
  if (pick % 8 === 7) return odd
  return String((pick % 8 === 6 ? pickOf(any, pick) : pickOf(open, pick)) ?? odd)
}

export const retries = commandsOf(
  'retry delivery',
  fc.record({ by: callers, target: targets, pick: picks }),
  async (model, server, { by, target, pick }) => {
    await comeToRest(model, server)
    const caller = callerOf(server, by)
    const id = targetOf(model, target)
    const sequence = sequenceFor(model, id, pick)
    const path = `/webhooks/${id}/deliveries/${sequence}/retry`
    const answer = await server.send(caller.key, 'POST', path)
    expectAnswer(model, answer, predict.retryDelivery(model, caller, id, sequence, answer))
    await comeToRest(model, server)
  },
)

export const replays = commandsOf(
  'replay',
  fc.record({ by: callers, target: targets, pick: picks }),
  async (model, server, { by, target, pick }) => {
    await comeToRest(model, server)
    await learnFeed(model, server)
    const caller = callerOf(server, by)
    const id = targetOf(model, target)
    const known = model.events.flatMap(event => sequenceOf(event) ?? [])
    const wrong = pickOf([1e12, -1, 1.5, 'planted'], pick) ?? -1
    const from = pick % 9 === 8 ? wrong : (pickOf(known, pick) ?? 0)
    const answer = await server.send(caller.key, 'POST', `/webhooks/${id}/replay`, { from })
    expectAnswer(model, answer, predict.replayWebhook(model, caller, id, from))
    await comeToRest(model, server)
  },
)
