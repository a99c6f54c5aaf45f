/**
 * Operations on webhooks: each reads, decides and writes once.
 * @module
 */
import { deliveriesKey } from '../audit/derived-keys.ts'
import type { Deps } from '../deps.ts'
import { parseDestination } from '../egress/destination.ts'
import { makeMayReach } from '../egress/public-address.ts'
import { isIP } from 'node:net'
import { uuidOf } from '../lib/bytes.ts'
import { ApiError, invalid } from '../lib/errors.ts'
import type { Secret } from '../lib/secret.ts'
import {
  webhookOrdersMax,
  webhookOverlapHoursDefault,
  webhookSecretBytes,
  webhooksPerTenantMax,
} from '../limits/limits.ts'
import { removalOf, unchanged } from '../records/read-row.ts'
import { untilWritten, writeAs, type WriteContext } from '../records/write-rows.ts'
import type { Caller } from '../rules/caller.ts'
import type { Change } from '../store/contract.ts'
import { readState } from './delivery-state.ts'
import type { CreateWebhookBody, RotateWebhookBody, UpdateWebhookBody } from './schema.ts'
import { webhookSecretText } from './signature.ts'
import {
  liveSecrets,
  placeUnique,
  sealWebhook,
  unsealWebhook,
  webhookTenantTerm,
  webhookUnique,
  type OrderAsked,
  type StoredWebhook,
  type WebhookOrder,
  type WebhookRecord,
} from './webhook-record.ts'

type Writer = Caller & WriteContext

/** A webhook and its newest secret, whose plaintext exists only here. */
export interface NewSecret {
  readonly record: WebhookRecord
  readonly secret: Secret
}

const absent = () => new ApiError('not_found', 'There is no such webhook.')

const tooMany = () =>
  new ApiError('conflict', `This tenant has ${webhooksPerTenantMax} webhooks: delete one first.`)

/** @throws ApiError `invalid_request` for an address to which nothing is sent */
function assertUrl({ settings }: Pick<Deps, 'settings'>, url: string): void {
  const destination = parseDestination(url)
  if ('failure' in destination) throw invalid('url', `expected ${destination.expected}`)
  const { host } = destination
  // A name is resolved at each delivery, and each of its addresses judged then.
  if (isIP(host) === 0 || makeMayReach(settings.egressAllow)(host)) return
  throw invalid('url', 'expected a public address, or one that the operator allows')
}

const isFree = async ({ store, keys }: Deps, tenantId: string, place: number): Promise<boolean> =>
  (await store.find(placeUnique(keys, tenantId, place))) === undefined

/** @throws ApiError `conflict` if the tenant has none left */
async function freePlace(deps: Deps, tenantId: string): Promise<number> {
  for (let place = 0; place < webhooksPerTenantMax; place += 1) {
    if (await isFree(deps, tenantId, place)) return place
  }
  throw tooMany()
}

const emailOf = ({ notify_email: email }: Pick<CreateWebhookBody, 'notify_email'>) =>
  typeof email === 'string' ? { notifyEmail: email } : {}

const firstSecretOf = (record: WebhookRecord): Secret =>
  webhookSecretText(Uint8Array.fromBase64(record.secrets[0]?.bytes ?? ''))

const freshSecret = ({ randomBytes }: Pick<Deps, 'randomBytes'>) => ({
  bytes: randomBytes(webhookSecretBytes).toBase64(),
})

/** Creates a webhook, which gets the events of all that lands from then on. */
export function createWebhook(
  deps: Deps,
  caller: Writer,
  body: CreateWebhookBody,
): Promise<NewSecret> {
  assertUrl(deps, body.url)
  const { tenantId, applicationId } = caller
  const id = uuidOf(deps.randomBytes(16))
  const secrets = [freshSecret(deps)]
  return untilWritten(async () => {
    const { next } = await deps.store.logRange()
    const record: WebhookRecord = {
      id,
      tenantId,
      place: await freePlace(deps, tenantId),
      name: body.name,
      url: body.url,
      status: 'enabled',
      events: body.events,
      ...emailOf(body),
      secrets,
      from: next,
      orders: [],
      createdBy: applicationId,
      createdAtMs: deps.now(),
    }
    const changes = [{ insert: sealWebhook(deps, record, 1) }, { bumpGeneration: true }] as const
    const landed = await writeAs(deps.store, caller, changes, { ids: () => [id] })
    return landed ? { result: { record, secret: firstSecretOf(record) } } : undefined
  })
}

async function findWebhook(deps: Deps, { tenantId }: Caller, id: string): Promise<StoredWebhook> {
  const row = await deps.store.find(webhookUnique(deps.keys, tenantId, id))
  if (row === undefined) throw absent()
  return unsealWebhook(deps.keys, row)
}

/** @throws ApiError `not_found`, also for one of another tenant */
export const getWebhook = async (deps: Deps, caller: Caller, id: string): Promise<WebhookRecord> =>
  (await findWebhook(deps, caller, id)).record

/** Newest first. */
export async function listWebhooks(
  { store, keys, now }: Deps,
  { tenantId }: Caller,
): Promise<readonly WebhookRecord[]> {
  const window = { offset: 0, limit: webhooksPerTenantMax, nowMs: now(), uncounted: true } as const
  const { rows } = await store.page({ term: webhookTenantTerm(keys, tenantId) }, window)
  return rows.map(row => unsealWebhook(keys, row).record)
}

/** Writes what `decide` makes of a webhook. */
const changeWebhook = (
  deps: Deps,
  caller: Writer,
  id: string,
  decide: (record: WebhookRecord) => WebhookRecord | Promise<WebhookRecord>,
): Promise<WebhookRecord> =>
  untilWritten(async () => {
    const { row, record } = await findWebhook(deps, caller, id)
    const result = await decide(record)
    const replace = sealWebhook(deps, result, row.version + 1)
    const change: Change = { replace, ordinal: row.ordinal, ifVersion: row.version }
    const landed = await writeAs(deps.store, caller, [change, { bumpGeneration: true }])
    return landed ? { result } : undefined
  })

/** Adds an order to those that are not done. @throws ApiError `conflict` if these are many */
async function withOrder(
  { store }: Deps,
  record: WebhookRecord,
  asked: OrderAsked,
): Promise<readonly WebhookOrder[]> {
  const { ordersDone } = await readState(store, record)
  const open = record.orders.filter(({ number }) => number > ordersDone)
  if (open.length >= webhookOrdersMax) {
    throw new ApiError('conflict', 'Many orders of this webhook are not done yet: try again later.')
  }
  const number = Math.max(ordersDone, record.orders.at(-1)?.number ?? 0) + 1
  return [...open, { ...asked, number }]
}

/** Enabled again, it goes on where it was. */
export function updateWebhook(
  deps: Deps,
  caller: Writer,
  id: string,
  body: UpdateWebhookBody,
): Promise<WebhookRecord> {
  assertUrl(deps, body.url)
  return changeWebhook(deps, caller, id, async record => {
    const { notifyEmail: _, disabledBy, ...kept } = record
    const status = body.status ?? record.status
    const isResumed = status === 'enabled' && record.status === 'disabled'
    return {
      ...kept,
      ...emailOf(body),
      ...(status === 'disabled' && disabledBy !== undefined ? { disabledBy } : {}),
      status,
      name: body.name,
      url: body.url,
      events: body.events,
      orders: isResumed ? await withOrder(deps, record, { kind: 'resume' }) : record.orders,
      modifiedBy: caller.applicationId,
      modifiedAtMs: deps.now(),
    }
  })
}

const hourMs = 3_600_000

/** Makes a new secret; the one before signs as well for a while, and any older one no more. */
export async function rotateWebhook(
  deps: Deps,
  caller: Writer,
  id: string,
  { overlap_hours: asked }: RotateWebhookBody,
): Promise<NewSecret> {
  const overlapMs = (asked ?? webhookOverlapHoursDefault) * hourMs
  const fresh = freshSecret(deps)
  const record = await changeWebhook(deps, caller, id, before => {
    const [newest] = liveSecrets(before, deps.now())
    const untilMs = deps.now() + overlapMs
    const kept = newest === undefined ? [] : [{ bytes: newest.toBase64(), untilMs }]
    const modified = { modifiedBy: caller.applicationId, modifiedAtMs: deps.now() }
    return { ...before, ...modified, secrets: [fresh, ...(overlapMs > 0 ? kept : [])] }
  })
  return { record, secret: firstSecretOf(record) }
}

/** Has events go once more; those of entries that were pruned are gone. */
export async function replayWebhook(
  deps: Deps,
  caller: Writer,
  id: string,
  from: number,
): Promise<void> {
  await changeWebhook(deps, caller, id, async record => {
    const { next } = await deps.store.logRange()
    if (from > next) throw invalid('from', 'expected the sequence of an entry of the audit log')
    return { ...record, orders: await withOrder(deps, record, { kind: 'replay', from }) }
  })
}

/**
 * Has the events of one entry go now.
 * @throws ApiError `not_found` if none of it waits or was given up
 */
export async function retryDelivery(
  deps: Deps,
  caller: Writer,
  id: string,
  sequence: number,
): Promise<void> {
  await changeWebhook(deps, caller, id, async record => {
    const { waiting, dead } = await readState(deps.store, record)
    if (![...waiting, ...dead].some(each => each.sequence === sequence)) {
      throw new ApiError('not_found', 'There is no such delivery, or it has arrived.')
    }
    return { ...record, orders: await withOrder(deps, record, { kind: 'retry', sequence }) }
  })
}

/** Has the entry of this request sent as an event. @throws ApiError `conflict` if disabled */
export const testWebhook = (deps: Deps, caller: Writer, id: string): Promise<void> =>
  untilWritten(async () => {
    const { row, record } = await findWebhook(deps, caller, id)
    if (record.status === 'disabled') {
      throw new ApiError('conflict', 'This webhook is disabled: enable it first.')
    }
    const landed = await writeAs(deps.store, caller, [unchanged(row)], { ids: () => [record.id] })
    return landed ? { result: undefined } : undefined
  })

export const deleteWebhook = (deps: Deps, caller: Writer, id: string): Promise<void> =>
  untilWritten(async () => {
    const { row, record } = await findWebhook(deps, caller, id)
    const landed = await writeAs(deps.store, caller, [
      removalOf(row),
      { derived: deliveriesKey(record.id), value: undefined },
      { bumpGeneration: true },
    ])
    return landed ? { result: undefined } : undefined
  })
