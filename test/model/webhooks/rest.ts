/**
 * The real vault brought to rest, and what came by then compared with what the model expects.
 * @module
 */
import { expect } from 'bun:test'
import { until } from '../../support/until.ts'
import {
  beginRound,
  comeBack,
  doubt,
  findDelivery,
  overdue,
  passLoose,
  readOn,
  settle,
  whyNot,
} from './expected.ts'
import { compareDeliveries } from './listed.ts'
import { eventOf, expectMessage } from './messages.ts'
import type { Server } from './server.ts'
import type { Model, ModelWebhook } from './state.ts'

/** More than the time after which the vault writes down what it has sent. */
const stepMs = 300

/** Compares all messages that came. @returns how many there were */
export function absorb(model: Model, { receiver, publicKey }: Server): number {
  const arrivals = receiver.take()
  for (const arrival of arrivals) {
    const [webhookId = ''] = arrival.message.id.split('_')
    const webhook = model.webhooks.get(webhookId)
    if (webhook === undefined) throw new Error(`a message of no webhook: ${arrival.message.text}`)
    const event = eventOf(model, arrival)
    expectMessage(model, webhook, event, arrival, publicKey)
    const delivery = findDelivery(webhook, event)
    expect([event.type, event.id, whyNot(webhook, event, arrival.atMs)]).toEqual([
      event.type,
      event.id,
      undefined,
    ])
    if (delivery === undefined) throw new Error('no delivery of it')
    passLoose(webhook, delivery)
    settle(webhook, delivery, arrival.outcome, arrival.atMs)
    event.arrivedAt.add(webhook.id)
  }
  return arrivals.length
}

/** A message that may have arrived before a crash has not gone again: so it had arrived. */
function forgetArrived(webhook: ModelWebhook, nowMs: number): void {
  const gone = overdue(webhook, nowMs).filter(({ isLoose }) => isLoose)
  webhook.deliveries = webhook.deliveries.filter(each => !gone.includes(each))
}

function expectNothingDue(model: Model): void {
  for (const webhook of model.webhooks.values()) {
    forgetArrived(webhook, model.nowMs)
    const due = overdue(webhook, model.nowMs).map(({ event }) => `${event.type} ${event.id}`)
    expect([webhook.name, due]).toEqual([webhook.name, []])
  }
}

/** An attempt that ended as the vault ended the webhook may count, or not. */
function endWebhook(webhook: ModelWebhook, by: string): void {
  webhook.status = 'disabled'
  webhook.disabledBy = by
  doubt(webhook)
  comeBack(webhook)
}

/** Takes over the decisions of the vault to disable a webhook that it may, or must, disable. */
async function awaitEnds(model: Model, server: Server): Promise<void> {
  const { key } = server.keys.manager
  for (const webhook of model.webhooks.values()) {
    const { mayEnd, mustEnd } = webhook.round
    if (mayEnd.size === 0 || webhook.status === 'disabled') continue
    const read = async () => (await server.send(key, 'GET', `/webhooks/${webhook.id}`)).body
    if (mustEnd) await until(async () => (await read())['status'] === 'disabled')
    const { status, disabled_by: by } = await read()
    if (status !== 'disabled') continue
    expect(mayEnd).toContain(String(by))
    endWebhook(webhook, String(by))
  }
  await server.quiesce()
}

/**
 * Has all go that may go now, until nothing does, and compares what is told of the rest.
 * @param isContinued true if deliveries have just ended
 */
export async function comeToRest(model: Model, server: Server, isContinued = false): Promise<void> {
  let isTold = !isContinued
  for (let turn = 0; ; turn += 1) {
    if (turn > 0 || !isContinued) beginRound(model)
    readOn(model)
    await server.quiesce()
    const came = absorb(model, server)
    expectNothingDue(model)
    await awaitEnds(model, server)
    if (came === 0 && isTold) return
    advance(model, server, stepMs)
    await server.quiesce()
    // An attempt of this moment is not written down yet.
    isTold = absorb(model, server) === 0
    await awaitEnds(model, server)
    if (isTold) await compareDeliveries(model, server)
  }
}

export function advance(model: Model, server: Server, ms: number): void {
  server.vault().clock.advance(ms)
  model.nowMs += ms
}
