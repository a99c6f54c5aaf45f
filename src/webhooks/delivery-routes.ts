/**
 * Operations on the deliveries of a webhook: listed, retried, replayed and tested; and the key that
 * verifies them.
 * @module
 */
import { Elysia } from 'elysia'
import { createPublicKey } from 'node:crypto'
import { privateKeyOf } from '../crypto/ed25519.ts'
import type { Deps } from '../deps.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import { printPage, readPageRequest } from '../http/paging.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { ApiError } from '../lib/errors.ts'
import { readDeliveries } from './list-deliveries.ts'
import {
  deliveryListSchema,
  listDeliveriesQuery,
  publicKeySchema,
  replayWebhookSchema,
} from './schema.ts'
import { webhookPublicKeyText } from './signature.ts'
import {
  deliveryListExamples,
  publicKeyExamples,
  replayWebhookExamples,
} from './webhook-examples.ts'
import { getWebhook, replayWebhook, retryDelivery, testWebhook } from './webhook-service.ts'

const contentType = 'application/json'
const opaque: ReadonlySet<string> = new Set()

async function list(deps: Deps, { caller, query }: OperationCall, id: string): Promise<Reply> {
  const request = readPageRequest(query)
  const record = await getWebhook(deps, caller, id)
  const window = { offset: (request.page - 1) * request.size, limit: request.size }
  const { total, items } = await readDeliveries(deps, caller, record, window)
  return { status: 200, json: printPage(request, total, items) }
}

function tellPublicKey({ keys: { eventSeed } }: Deps): Reply {
  if (eventSeed === undefined) throw new ApiError('unavailable', 'The vault is sealed.')
  const key = webhookPublicKeyText(createPublicKey(privateKeyOf(eventSeed)))
  return { status: 200, json: JSON.stringify({ key }) }
}

/** Only a canonical number names an entry. */
function sequenceIn(text: string): number {
  if (/^(?:0|[1-9]\d{0,14})$/.test(text)) return Number(text)
  throw new ApiError('not_found', 'There is no such delivery, or it has arrived.')
}

const done: Reply = { status: 204 }

const publicKey = (deps: Deps) =>
  operation({
    name: 'getWebhookPublicKey',
    method: 'GET',
    path: '/webhooks/public-key',
    summary: 'Get the key that verifies signatures v1a',
    permission: 'webhook:read',
    success: { status: 200, schema: publicKeySchema, examples: publicKeyExamples },
    failures: [401, 403],
    run: () => tellPublicKey(deps),
  })

const listAll = (deps: Deps) =>
  operation({
    name: 'listWebhookDeliveries',
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    about: 'object',
    summary: 'List deliveries that wait or were given up, oldest first',
    permission: 'webhook:read',
    query: listDeliveriesQuery,
    success: { status: 200, schema: deliveryListSchema, examples: deliveryListExamples },
    failures: [400, 401, 403, 404],
    run: call => list(deps, call, call.params.id),
  })

const retry = (deps: Deps) =>
  operation({
    name: 'retryWebhookDelivery',
    method: 'POST',
    path: '/webhooks/:id/deliveries/:sequence/retry',
    about: 'object',
    summary: 'Have the events of one entry go now',
    permission: 'webhook:update',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    async run({ caller, params }) {
      await retryDelivery(deps, caller, params.id, sequenceIn(params.sequence))
      return done
    },
    replay: async () => done,
  })

const replay = (deps: Deps) =>
  operation({
    name: 'replayWebhook',
    method: 'POST',
    path: '/webhooks/:id/replay',
    about: 'object',
    summary: 'Have all events from an entry on go once more',
    permission: 'webhook:update',
    body: { contentType, schema: replayWebhookSchema, examples: replayWebhookExamples, opaque },
    success: { status: 204 },
    failures: [400, 401, 403, 404, 409, 413, 415],
    async run({ caller, params }, { from }) {
      await replayWebhook(deps, caller, params.id, from)
      return done
    },
    replay: async () => done,
  })

const test = (deps: Deps) =>
  operation({
    name: 'testWebhook',
    method: 'POST',
    path: '/webhooks/:id/test',
    about: 'object',
    summary: 'Have an event webhook.test go to this webhook',
    permission: 'webhook:update',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    async run({ caller, params }) {
      await testWebhook(deps, caller, params.id)
      return done
    },
    replay: async () => done,
  })

export const deliveryRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, publicKey(deps)))
    .route(...routeOf(pipeline, listAll(deps)))
    .route(...routeOf(pipeline, retry(deps)))
    .route(...routeOf(pipeline, replay(deps)))
    .route(...routeOf(pipeline, test(deps)))
