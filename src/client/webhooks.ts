/**
 * Operations on webhooks and their deliveries.
 * @module
 */
import type { Ask } from './ask.ts'
import type { Answer, CallOptions } from './call.ts'
import type {
  CreateWebhookRequest,
  EventTypes,
  RotateWebhookRequest,
  UpdateWebhookRequest,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookPublicKey,
} from './interface.ts'
import { below, withQuery } from './paths.ts'
import { isNothing } from './shapes.ts'
import type { WalkChoice } from './token.ts'
import { walkPages } from './walk.ts'

/** Operations on webhooks, to which events are sent; for a management application. */
export interface Webhooks {
  /**
   * A new webhook. Only the answer holds its secret; if that is lost, a retry is a `conflict`.
   *
   * @throws CofferError `invalid_request`, `forbidden`, `conflict` if the tenant has its most
   * @example
   * const { id, secret } = await manager.webhooks.create({
   *   name: 'Orders',
   *   url: 'https://hooks.shop.example/coffer',
   *   events: ['token.created', 'token.deleted'],
   * })
   */
  create(
    webhook: CreateWebhookRequest,
    options?: CallOptions,
  ): Answer<Webhook & { readonly secret: string }>

  /**
   * A webhook, without its secret.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * const { status } = await manager.webhooks.get(id)
   */
  get(id: string, options?: CallOptions): Answer<Webhook>

  /**
   * All webhooks of the tenant, newest first.
   *
   * @throws CofferError `forbidden`
   * @example
   * const { data } = await manager.webhooks.list()
   */
  list(options?: CallOptions): Answer<WebhookList>

  /**
   * Replaces its name, address and events; a `status` enables or disables it.
   *
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`, `conflict`
   * @example
   * await manager.webhooks.update(id, { name: 'Orders', url, events, status: 'enabled' })
   */
  update(id: string, webhook: UpdateWebhookRequest, options?: CallOptions): Answer<Webhook>

  /**
   * A new secret. The one before signs as well for a while, by default 24 hours.
   *
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`; `conflict` for a lost answer
   * @example
   * const { secret } = await manager.webhooks.rotate(id)
   */
  rotate(
    id: string,
    overlap?: Partial<RotateWebhookRequest>,
    options?: CallOptions,
  ): Answer<Webhook & { readonly secret: string }>

  /**
   * Deletes a webhook, with all that waits for it.
   *
   * @throws CofferError `not_found`, `forbidden`
   * @example
   * await manager.webhooks.delete(id)
   */
  delete(id: string, options?: CallOptions): Answer<void>

  /**
   * Sends it an event `webhook.test`.
   *
   * @throws CofferError `not_found`, `forbidden`, `conflict` for a disabled one
   * @example
   * await manager.webhooks.test(id)
   */
  test(id: string, options?: CallOptions): Answer<void>

  /**
   * Every delivery that waits or was given up, oldest first.
   *
   * @throws CofferError (each step) `not_found`, `forbidden`
   * @throws TypeError (the first step) for an invalid `size` or `limit`
   * @example
   * for await (const { sequence, failure } of manager.webhooks.deliveries(id)) use(failure)
   */
  deliveries(
    id: string,
    choice?: WalkChoice,
    options?: CallOptions,
  ): AsyncGenerator<WebhookDelivery, void>

  /**
   * Has the events of one entry of the audit log go now.
   *
   * @throws CofferError `not_found` if none waits or was given up, `forbidden`, `conflict`
   * @example
   * await manager.webhooks.retry(id, sequence)
   */
  retry(id: string, sequence: number | string, options?: CallOptions): Answer<void>

  /**
   * Has all events from an entry of the audit log on go once more.
   *
   * @throws CofferError `invalid_request`, `not_found`, `forbidden`, `conflict`
   * @example
   * await manager.webhooks.replay(id, 4711)
   */
  replay(id: string, from: number, options?: CallOptions): Answer<void>

  /**
   * The types of events.
   *
   * @throws CofferError `forbidden`
   * @example
   * const types = await manager.webhooks.eventTypes()
   */
  eventTypes(options?: CallOptions): Answer<EventTypes>

  /**
   * The key that verifies signatures `v1a` of every webhook.
   *
   * @throws CofferError `forbidden`
   * @example
   * const { key } = await manager.webhooks.publicKey()
   */
  publicKey(options?: CallOptions): Answer<WebhookPublicKey>
}

const base = '/webhooks'
const nothing = { is: isNothing }

const deliveryOperations = (ask: Ask): Pick<Webhooks, 'deliveries' | 'retry' | 'replay'> => ({
  deliveries: (id, choice = {}, options = {}) =>
    walkPages<WebhookDelivery>(choice, (page, size) => {
      const path = withQuery(`${below(base, id)}/deliveries`, { size, page })
      return ask.plain<WebhookDeliveryList>('GET', path, undefined, options)
    }),
  retry(id, sequence, options) {
    const entry = typeof sequence === 'number' ? String(sequence) : sequence
    const path = `${below(`${below(base, id)}/deliveries`, entry)}/retry`
    return ask.keeping('POST', path, undefined, options, nothing)
  },
  replay: (id, from, options) =>
    ask.keeping('POST', `${below(base, id)}/replay`, { from }, options, nothing),
})

/** @internal */
export const webhookOperations = (ask: Ask): Webhooks => ({
  create: (webhook, options) => ask.keeping('POST', base, webhook, options),
  get: (id, options) => ask.plain('GET', below(base, id), undefined, options),
  list: options => ask.plain('GET', base, undefined, options),
  update: (id, webhook, options) => ask.keeping('PUT', below(base, id), webhook, options),
  rotate: (id, overlap = {}, options = {}) =>
    ask.keeping('POST', `${below(base, id)}/rotate`, overlap, options),
  delete: (id, options) => ask.plain('DELETE', below(base, id), undefined, options, nothing),
  test: (id, options) =>
    ask.keeping('POST', `${below(base, id)}/test`, undefined, options, nothing),
  eventTypes: options => ask.plain('GET', `${base}/event-types`, undefined, options),
  publicKey: options => ask.plain('GET', `${base}/public-key`, undefined, options),
  ...deliveryOperations(ask),
})
