/**
 * Messages as a receiver is to get them: their ids, bodies and signatures.
 *
 * Source: C18.3, C18.5 and Standard Webhooks 1.0.0, "Webhook payload" and "Signature scheme".
 * @module
 */
import { expect } from 'bun:test'
import { createHmac, createPublicKey, verify } from 'node:crypto'
import { showUtc } from '../instants.ts'
import type { Arrival } from './receiver.ts'
import { sequenceOf, type Model, type ModelEvent, type ModelWebhook } from './state.ts'

const idShape = /^(?:0|[1-9]\d*)_(\d+)_[0-9a-f]{8}$/

/** Keeps the id that the vault has told; it stays the same, and ids grow with the log. */
export function learnId({ events }: Model, event: ModelEvent, eventId: string): void {
  const [, place] = idShape.exec(eventId) ?? []
  expect([eventId, place]).toEqual([event.eventId ?? eventId, String(event.place)])
  event.eventId = eventId
  const sequence = sequenceOf(event) ?? -1
  for (const other of events) {
    const known = sequenceOf(other)
    if (known === undefined || other === event) continue
    const isOfOne = other.traceId === event.traceId
    const order = isOfOne ? 0 : Math.sign(event.order - other.order)
    expect([eventId, other.eventId, Math.sign(sequence - known)]).toEqual([
      eventId,
      other.eventId,
      order,
    ])
  }
}

/** Members of every form of an event. */
export const showEvent = (model: Model, event: ModelEvent) => ({
  id: event.eventId,
  type: event.type,
  timestamp: showUtc(event.atMs),
  tenant_id: model.tenantId,
  trace_id: event.traceId,
  data: {
    [event.subject]: {
      id: event.id,
      ...(event.applicationId === undefined ? {} : { application_id: event.applicationId }),
    },
    actor: event.actor,
  },
})

const publicKeyPrefix = '302a300506032b6570032100'

function isSignedByKey(publicKey: string, signed: string, signature: string): boolean {
  const raw = Buffer.from(publicKey.slice('whpk_'.length), 'base64').toString('hex')
  const der = Buffer.from(publicKeyPrefix + raw, 'hex')
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(signed), key, Buffer.from(signature, 'base64'))
}

const signBy = (secret: string, signed: string): string => {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

/** It is signed by each secret that counts at its instant and by the public key, and no other. */
function expectSigned(webhook: ModelWebhook, arrival: Arrival, publicKey: string): void {
  const { headers, text, id } = arrival.message
  const timestamp = String(Math.floor(arrival.atMs / 1_000))
  expect(headers['webhook-timestamp']).toBe(timestamp)
  const signed = `${id}.${timestamp}.${text}`
  const live = webhook.secrets.filter(({ untilMs }) => untilMs > arrival.atMs)
  const signatures = String(headers['webhook-signature']).split(' ')
  expect(signatures.slice(0, -1)).toEqual(live.map(secret => signBy(secret.text, signed)))
  const [scheme, signature = ''] = signatures.at(-1)?.split(',') ?? []
  expect([scheme, isSignedByKey(publicKey, signed, signature)]).toEqual(['v1a', true])
}

/** Returns the event that a message tells. @throws if there is no such event */
export function eventOf({ events }: Model, { message }: Arrival): ModelEvent {
  const { trace_id: traceId, id } = message.body.event
  const place = Number(String(id).split('_')[1])
  const event = events.find(each => each.traceId === traceId && each.place === place)
  if (event === undefined) throw new Error(`an event that nobody made: ${message.text}`)
  return event
}

export function expectMessage(
  model: Model,
  webhook: ModelWebhook,
  event: ModelEvent,
  arrival: Arrival,
  publicKey: string,
): void {
  const { message, target, atMs } = arrival
  learnId(model, event, String(message.body.event['id']))
  const members = showEvent(model, event)
  const { type, timestamp, data } = members
  const body = { type, timestamp, data, event: members, delivered_at: showUtc(atMs) }
  expect(JSON.parse(message.text)).toEqual(body)
  expect(message.id).toBe(`${webhook.id}_${event.eventId}`)
  expect(message.headers['content-type']).toBe('application/json')
  const { pathname, search } = new URL(webhook.url)
  expect(target).toBe(`${pathname}${search}`)
  expectSigned(webhook, arrival, publicKey)
}
