/**
 * Happenings in a run beside the operations on webhooks: requests that make events, receivers
 * that fail, time, and the ends of the vault.
 * @module
 */
import { expect } from 'bun:test'
import fc from 'fast-check'
import { picks } from '../arbitraries.ts'
import * as predict from './answers.ts'
import { callerOf, commandsOf, expectAnswer, pickWebhook } from './command.ts'
import { comeBack, doubt, readOn, settle } from './expected.ts'
import { learnFeed } from './feed.ts'
import type { Outcome, Plan } from './receiver.ts'
import { absorb, advance, comeToRest } from './rest.ts'
import type { Server } from './server.ts'
import type { Model } from './state.ts'
import { request, requests } from './traffic.ts'

const outcomes: fc.Arbitrary<Outcome> = fc
  .oneof(
    { arbitrary: fc.constantFrom(200, 204, 299), weight: 4 },
    { arbitrary: fc.constantFrom(500, 302, 400, 503), weight: 4 },
    { arbitrary: fc.constant(410), weight: 1 },
  )
  .map((status): Outcome => ({ kind: 'answer', status }))

const plans: fc.Arbitrary<Outcome> = fc.oneof(
  { arbitrary: outcomes, weight: 9 },
  {
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      status: fc.constantFrom(429, 503, 500),
      retryAfter: fc.constantFrom(1, 60, 600),
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({ kind: fc.constant('cut' as const), isWithin: fc.boolean() }),
    weight: 2,
  },
  { arbitrary: fc.constant<Outcome>({ kind: 'hold' }), weight: 2 },
)

export const traffic = commandsOf(
  'requests',
  fc.record({ asked: fc.array(requests, { minLength: 1, maxLength: 6 }), rests: fc.boolean() }),
  async (model, server, { asked: all, rests }) => {
    for (const each of all) await request(model, server, each)
    if (rests) await comeToRest(model, server)
  },
)

export const planned = commandsOf(
  'receiver will',
  fc.record({ pick: picks, plan: fc.tuple(plans, plans) }),
  async (model, server, { pick, plan }) => {
    await comeToRest(model, server)
    const webhook = pickWebhook(model, pick)
    if (webhook !== undefined) server.receiver.plans.set(webhook.id, plan as Plan)
  },
)

export const releases = commandsOf(
  'receiver answers',
  fc.record({ pick: picks, outcome: outcomes }),
  async (model, server, { pick, outcome }) => {
    await comeToRest(model, server)
    const webhook = pickWebhook(model, pick)
    if (webhook === undefined) return
    const held = webhook.deliveries.filter(({ isHeld }) => isHeld)
    server.receiver.release(webhook.id, outcome)
    for (const each of held) settle(webhook, each, outcome, model.nowMs)
    await comeToRest(model, server, true)
  },
)

const secondMs = 1_000
const hourMs = 3_600 * secondMs

export const waits = commandsOf(
  'wait',
  fc.constantFrom(secondMs, 6 * secondMs, 400 * secondMs, hourMs, 30 * hourMs),
  async (model, server, ms) => {
    await comeToRest(model, server)
    advance(model, server, ms)
    await comeToRest(model, server)
  },
)

/** Waits for the next attempt, several times. */
export const attempts = commandsOf(
  'attempts',
  fc.integer({ min: 1, max: 11 }),
  async (model, server, count) => {
    for (let done = 0; done < count; done += 1) {
      await comeToRest(model, server)
      const next = [...model.webhooks.values()]
        .filter(({ status }) => status === 'enabled')
        .flatMap(({ deliveries }) => deliveries.map(each => each.next.maxMs))
        .filter(ms => ms > model.nowMs && ms < Infinity)
      if (next.length === 0) return
      advance(model, server, Math.ceil(Math.min(...next)) - model.nowMs)
    }
    await comeToRest(model, server)
  },
)

export const restarts = commandsOf('restart', fc.constant(0), async (model, server) => {
  await comeToRest(model, server)
  await server.restart()
  for (const webhook of model.webhooks.values()) comeBack(webhook)
  await comeToRest(model, server)
})

/** It disables webhooks that fail for longer. */
const daysMs = 5 * 24 * hourMs

/** True if the vault may disable one at any time: how far it has read is not known then. */
const mayEnd = ({ webhooks, nowMs }: Model, { receiver }: Server): boolean =>
  [...webhooks.values()].some(({ id, failing }) => {
    const plan = receiver.plans.get(id) ?? []
    const isGone = plan.some(each => each.kind === 'answer' && each.status === 410)
    return isGone || nowMs - (failing?.minMs ?? nowMs) >= daysMs
  })

/** The vault ends in the midst of its work, and nothing more is written down. */
export const crashes = commandsOf(
  'crash',
  fc.array(fc.record({ asked: requests, ticks: fc.nat({ max: 2 }) }), { maxLength: 6 }),
  async (model, server, steps) => {
    await comeToRest(model, server)
    if (mayEnd(model, server)) return
    for (const { asked: each, ticks } of steps) {
      await request(model, server, each)
      for (let count = 0; count < ticks; count += 1) await server.tick()
    }
    await server.crash()
    readOn(model)
    absorb(model, server)
    for (const webhook of model.webhooks.values()) {
      doubt(webhook)
      comeBack(webhook)
    }
    await comeToRest(model, server)
  },
)

/** Ends of a run: every receiver takes all, and each event has arrived or was given up. */
export async function expectAllArrived(model: Model, server: Server): Promise<void> {
  await comeToRest(model, server)
  const manager = callerOf(server, 'manager')
  server.receiver.cutAll()
  for (const webhook of model.webhooks.values()) {
    server.receiver.plans.delete(webhook.id)
    for (const each of webhook.deliveries.filter(({ isHeld }) => isHeld)) {
      settle(webhook, each, { kind: 'cut', isWithin: false }, model.nowMs)
    }
  }
  await comeToRest(model, server, true)
  for (const status of ['disabled', 'enabled']) {
    for (const { id, name, url, events: kept } of model.webhooks.values()) {
      const body = { name, url, events: [...kept], status }
      const answer = await server.send(manager.key, 'PUT', `/webhooks/${id}`, body)
      expectAnswer(model, answer, predict.updateWebhook(model, manager, id, body))
    }
    await comeToRest(model, server)
  }
  await learnFeed(model, server)
  for (const { deliveries } of model.webhooks.values()) expect(deliveries).toEqual([])
  for (const id of model.webhooks.keys()) {
    const answer = await server.send(manager.key, 'DELETE', `/webhooks/${id}`)
    expectAnswer(model, answer, predict.deleteWebhook(model, manager, id))
  }
}
