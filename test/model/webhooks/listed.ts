/**
 * The list of deliveries, compared with what the model knows to wait or to be given up.
 * @module
 */
import { expect } from 'bun:test'
import { showUtc } from '../instants.ts'
import type { Server } from './server.ts'
import {
  at,
  type DeadDelivery,
  type Model,
  type ModelDelivery,
  type ModelWebhook,
} from './state.ts'

/** An item of the list. */
interface Listed {
  readonly sequence: number
  readonly event_id: string
  readonly type: string
  readonly status: string
  readonly attempts: number
  readonly failure?: string
  readonly next_attempt_at?: string
  readonly given_up_at?: string
}

/** Given up ones are listed for 30 days. */
const deadMs = 30 * 24 * 3_600_000

function isDead(dead: DeadDelivery, listed: Listed): boolean {
  const { event, attempts, atMs, failure } = dead
  const isSame = listed.event_id === event.eventId && listed.type === event.type
  const isEnd = listed.status === 'dead' && listed.attempts === attempts
  const hasTime = listed.given_up_at === showUtc(atMs) && listed.next_attempt_at === undefined
  return isSame && isEnd && hasTime && failure.test(String(listed.failure))
}

function isWaiting(waiting: ModelDelivery, listed: Listed): boolean {
  const { event, attempts, next, failure, failureBefore } = waiting
  const { next_attempt_at: nextAt } = listed
  // A webhook of which nothing has arrived tells ids that the model does not know yet.
  const isSame = listed.event_id === (event.eventId ?? listed.event_id)
  if (!isSame || listed.status !== 'waiting' || listed.type !== event.type) return false
  if (listed.attempts < attempts[0] || listed.attempts > attempts[1]) return false
  if (listed.attempts === 0) return nextAt === undefined && listed.failure === undefined
  const nextMs = Date.parse(String(nextAt))
  const isThen = nextMs >= Math.floor(next.minMs) && nextMs <= Math.ceil(next.maxMs)
  const told = listed.attempts < attempts[1] ? failureBefore : failure
  return isThen && told?.test(String(listed.failure)) === true
}

/** It is known now what was written down of it. */
function adopt(
  waiting: ModelDelivery,
  { attempts, failure, next_attempt_at: nextAt }: Listed,
): void {
  waiting.isLoose = false
  waiting.failure = failure === undefined ? undefined : new RegExp(`^${failure}$`)
  waiting.attempts = [attempts, attempts]
  if (nextAt !== undefined) waiting.next = at(Date.parse(nextAt))
}

/** True if it must be in the list: not if it was never tried, is under way, or may have arrived. */
const isSure = ({ attempts, isHeld, isLoose }: ModelDelivery): boolean =>
  attempts[0] > 0 && !isHeld && !isLoose

function compare(model: Model, webhook: ModelWebhook, items: readonly Listed[]): void {
  const [dead, waiting] = [[...webhook.dead], [...webhook.deliveries]]
  const unknown = items.filter(item => {
    const given = dead.findIndex(each => isDead(each, item))
    const at = waiting.findIndex(each => isWaiting(each, item))
    if (given >= 0) dead.splice(given, 1)
    else if (at >= 0) for (const each of waiting.splice(at, 1)) adopt(each, item)
    return given < 0 && at < 0
  })
  const missing = [
    ...dead.filter(({ atMs }) => atMs > model.nowMs - deadMs),
    ...waiting.filter(isSure),
  ].map(({ event, attempts }) => [event.type, event.id, event.eventId, attempts])
  expect({ webhook: webhook.name, unknown, missing }).toEqual({
    webhook: webhook.name,
    unknown: [],
    missing: [],
  })
}

const listAll = async (server: Server, webhook: ModelWebhook): Promise<readonly Listed[]> => {
  const path = `/webhooks/${webhook.id}/deliveries?size=100`
  const { status, body } = await server.send(server.keys.manager.key, 'GET', path)
  expect(status).toBe(200)
  return body['data'] as readonly Listed[]
}

/** Compares the lists of all webhooks, and takes over when the next attempts are. */
export async function compareDeliveries(model: Model, server: Server): Promise<void> {
  for (const webhook of model.webhooks.values()) {
    compare(model, webhook, await listAll(server, webhook))
  }
}

/** Each part is in the order of the log, or of the giving up; pages are parts of the whole. */
export async function comparePage(
  server: Server,
  webhook: ModelWebhook,
  key: string,
  { page, size }: { readonly page: number; readonly size: number },
): Promise<void> {
  const all = await listAll(server, webhook)
  const waiting = all.filter(({ status }) => status === 'waiting')
  const sequences = waiting.map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  const path = `/webhooks/${webhook.id}/deliveries?page=${page}&size=${size}`
  const { status, body } = await server.send(key, 'GET', path)
  expect(status).toBe(200)
  expect(body).toEqual({
    pagination: {
      total_items: all.length,
      page_number: page,
      page_size: size,
      total_pages: Math.ceil(all.length / size),
    },
    data: all.slice((page - 1) * size, page * size),
  })
}
