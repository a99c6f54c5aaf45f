/**
 * Expected answers to operations on webhooks, and what they change.
 *
 * Source: contract section 18 in `docs/interface.md`, and `docs/http.md`.
 * @module
 */
import type { Answer } from '../../support/vault.ts'
import { failed, type Expected } from '../access.ts'
import { showUtc } from '../instants.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { comeBack } from './expected.ts'
import {
  at,
  eventTypes,
  newRound,
  sequenceOf,
  type EventType,
  type Model,
  type ModelWebhook,
} from './state.ts'

const webhooksMax = 5
const hourMs = 3_600_000

/** A caller of an operation, and what it may do. */
export interface Caller {
  readonly key: string | undefined
  readonly id: string
  readonly may: 'all' | 'read' | 'nothing' | 'other'
}

/** Returns the refusal of a caller: 401 without a live key, 403 without the permission. */
function refusalOf({ key, may }: Caller, permission: string): Expected | undefined {
  if (key === undefined || key === 'key_1111111111111111111111') return failed(401)
  if (may === 'nothing' || (may === 'read' && permission !== 'webhook:read')) return failed(403)
  return undefined
}

const isPublic = (host: string): boolean => !/^(?:10\.|127\.(?!1\.0\.1$)|169\.254\.)/.test(host)

function isUrl(url: Json | undefined): url is string {
  if (typeof url !== 'string' || !url.startsWith('https://') || url.includes('#')) return false
  const { hostname, username } = new URL(url)
  return username === '' && isPublic(hostname)
}

interface Settable {
  readonly name: string
  readonly url: string
  readonly events: readonly EventType[]
  readonly notifyEmail: string | undefined
}

/** Returns undefined for what is a 400. */
function readSettable(body: Json | undefined): Settable | undefined {
  if (!isObject(body)) return undefined
  const { name, url, events, notify_email: email } = body
  const isName = typeof name === 'string' && name.length >= 1 && name.length <= 200
  const isList = Array.isArray(events) && events.length > 0
  if (!isName || !isUrl(url) || !isList || new Set(events).size < events.length) return undefined
  if (!events.every(each => (eventTypes as readonly Json[]).includes(each))) return undefined
  if (email !== undefined && email !== null && typeof email !== 'string') return undefined
  return { name, url, events: events as readonly EventType[], notifyEmail: email ?? undefined }
}

const showWebhook = (model: Model, webhook: ModelWebhook, isWhole: boolean, secret?: string) => ({
  id: webhook.id,
  tenant_id: model.tenantId,
  status: webhook.status,
  disabled_by: webhook.disabledBy,
  name: webhook.name,
  url: isWhole ? webhook.url : new URL('/', webhook.url).href,
  notify_email: webhook.notifyEmail,
  events: webhook.events,
  secret,
  created_by: webhook.createdBy,
  created_at: showUtc(webhook.createdAtMs),
  modified_by: webhook.modified?.by,
  modified_at: webhook.modified === undefined ? undefined : showUtc(webhook.modified.atMs),
})

const secretShape = /^whsec_[A-Za-z0-9+/]{43}=$/
const idShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A secret that was never shown before, or a text that no answer can equal. */
function freshSecret({ secrets }: Model, given: unknown): string {
  if (typeof given !== 'string' || !secretShape.test(given) || secrets.has(given)) return 'fresh'
  secrets.add(given)
  return given
}

export function createWebhook(model: Model, by: Caller, body: Json, answer: Answer): Expected {
  const refusal = refusalOf(by, 'webhook:create')
  if (refusal !== undefined) return refusal
  const settable = readSettable(body)
  if (settable === undefined) return failed(400)
  if (model.webhooks.size >= webhooksMax) return failed(409)
  const { id } = answer.body
  const isFresh = typeof id === 'string' && idShape.test(id) && !model.webhooks.has(id)
  const secret = freshSecret(model, answer.body['secret'])
  const webhook: ModelWebhook = {
    ...settable,
    id: isFresh && !model.deleted.has(id) ? id : 'fresh',
    status: 'enabled',
    disabledBy: undefined,
    secrets: [{ text: secret, untilMs: Infinity }],
    createdBy: by.id,
    createdAtMs: model.nowMs,
    modified: undefined,
    from: model.events.length,
    cursor: model.events.length,
    orders: [],
    deliveries: [],
    dead: [],
    failing: undefined,
    paused: at(0),
    round: newRound(undefined),
  }
  model.webhooks.set(webhook.id, webhook)
  return { status: 201, json: showWebhook(model, webhook, true, secret) }
}

export function listWebhooks(model: Model, by: Caller, size: number): Expected {
  const refusal = refusalOf(by, 'webhook:read')
  if (refusal !== undefined) return refusal
  const own = by.may === 'other' ? [] : [...model.webhooks.values()].toReversed()
  const data = own.map(each => showWebhook(model, each, by.may === 'all'))
  return { status: 200, json: { pagination: { page_size: size }, data } }
}

/** Returns the webhook, or why the caller gets none. */
export function findWebhook(
  model: Model,
  by: Caller,
  id: string,
  permission: string,
): ModelWebhook | Expected {
  const found = by.may === 'other' ? undefined : model.webhooks.get(id.toLowerCase())
  return refusalOf(by, permission) ?? found ?? failed(404)
}

export const isRefused = (found: ModelWebhook | Expected): found is Expected =>
  typeof found.status === 'number'

export function getWebhook(model: Model, by: Caller, id: string): Expected {
  const found = findWebhook(model, by, id, 'webhook:read')
  if (isRefused(found)) return found
  return { status: 200, json: showWebhook(model, found, by.may === 'all') }
}

const touch = (model: Model, webhook: ModelWebhook, by: Caller): void => {
  webhook.modified = { by: by.id, atMs: model.nowMs }
}

const statuses: readonly (Json | undefined)[] = ['enabled', 'disabled', null, undefined]

export function updateWebhook(model: Model, by: Caller, id: string, body: JsonObject): Expected {
  const found = findWebhook(model, by, id, 'webhook:update')
  const settable = readSettable(body)
  const isWrong = settable === undefined || !statuses.includes(body['status'])
  if (isRefused(found)) return isWrong && found.status === 404 ? failed(400) : found
  if (isWrong) return failed(400)
  const status = body['status'] ?? found.status
  const isResumed = found.status === 'disabled' && status === 'enabled'
  const isEnded = found.status === 'enabled' && status === 'disabled'
  Object.assign(found, settable)
  touch(model, found, by)
  found.status = status === 'enabled' ? 'enabled' : 'disabled'
  if (found.status === 'enabled') found.disabledBy = undefined
  if (isResumed) found.orders.push({ kind: 'resume' })
  if (isResumed || isEnded) comeBack(found)
  return { status: 200, json: showWebhook(model, found, true) }
}

export function deleteWebhook(model: Model, by: Caller, id: string): Expected {
  const found = findWebhook(model, by, id, 'webhook:delete')
  if (isRefused(found)) return found
  model.webhooks.delete(found.id)
  model.deleted.add(found.id)
  return { status: 204 }
}

/** @param hours as asked, if they were */
export function rotateWebhook(
  model: Model,
  by: Caller,
  id: string,
  hours: Json | undefined,
  answer: Answer,
): Expected {
  const found = findWebhook(model, by, id, 'webhook:update')
  const given = hours ?? 24
  const isWhole = Number.isInteger(given) && Number(given) >= 0 && Number(given) <= 168
  if (isRefused(found)) return isWhole || found.status !== 404 ? found : failed(400)
  if (!isWhole) return failed(400)
  const secret = freshSecret(model, answer.body['secret'])
  const untilMs = model.nowMs + Number(given) * hourMs
  const [before] = found.secrets
  found.secrets = [
    { text: secret, untilMs: Infinity },
    ...(before === undefined ? [] : [{ ...before, untilMs }]),
  ]
  touch(model, found, by)
  return { status: 200, json: showWebhook(model, found, true, secret) }
}

export function replayWebhook(model: Model, by: Caller, id: string, from: Json): Expected {
  const found = findWebhook(model, by, id, 'webhook:update')
  const isNumber = Number.isSafeInteger(from) && Number(from) >= 0
  if (isRefused(found)) return isNumber || found.status !== 404 ? found : failed(400)
  // More entries than any run makes.
  if (!isNumber || Number(from) >= 1e9) return failed(400)
  found.orders.push({ kind: 'replay', from: Number(from) })
  return { status: 204 }
}

/** An event that was never tried may be listed, or not yet. */
export function retryDelivery(
  model: Model,
  by: Caller,
  id: string,
  sequence: string,
  answer: Answer,
): Expected {
  const found = findWebhook(model, by, id, 'webhook:update')
  if (isRefused(found)) return found
  const { deliveries, dead } = found
  const isIt = (event: { readonly eventId?: string }) => event.eventId?.split('_')[0] === sequence
  const waiting = deliveries.filter(({ event }) => isIt(event))
  const isSure =
    dead.some(({ event }) => isIt(event)) ||
    waiting.some(({ attempts, isHeld, isLoose }) => attempts[0] > 0 && !isHeld && !isLoose)
  const isUnknown = deliveries.some(({ event }) => sequenceOf(event) === undefined)
  const isCanonical = /^(?:0|[1-9]\d*)$/.test(sequence)
  const isPossible = isCanonical && (waiting.length > 0 || isUnknown) && answer.status === 204
  if (!isSure && !isPossible) return failed(404)
  found.orders.push({ kind: 'retry', sequence: Number(sequence) })
  return { status: 204 }
}

/** The event of it is that of its request. */
export function testWebhook(model: Model, by: Caller, id: string): Expected {
  const found = findWebhook(model, by, id, 'webhook:update')
  if (isRefused(found)) return found
  return found.status === 'disabled' ? failed(409) : { status: 204 }
}
