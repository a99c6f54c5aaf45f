/**
 * Operations on webhooks, with names and shapes of published clients (docs/compatibility.md).
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { holdsAnywhere } from '../rules/access.ts'
import type { Caller } from '../rules/caller.ts'
import { operation, type Reply } from '../http/operation.ts'
import { printStretch, readPageRequest } from '../http/paging.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { eventTypes } from './event-types.ts'
import { printWebhook } from './print-webhook.ts'
import {
  createWebhookSchema,
  eventTypesSchema,
  listWebhooksQuery,
  rotateWebhookSchema,
  updateWebhookSchema,
  webhookListSchema,
  webhookSchema,
} from './schema.ts'
import {
  createWebhookExamples,
  eventTypesExamples,
  newWebhookExamples,
  rotateWebhookExamples,
  updateWebhookExamples,
  webhookExamples,
  webhookListExamples,
} from './webhook-examples.ts'
import type { WebhookRecord } from './webhook-record.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  rotateWebhook,
  updateWebhook,
} from './webhook-service.ts'

const contentType = 'application/json'
const opaque: ReadonlySet<string> = new Set()
const oneWebhook = { status: 200, schema: webhookSchema, examples: webhookExamples } as const

/** Only callers who may update a webhook see its whole address, which may hold a secret. */
const shownTo = ({ grants }: Caller, record: WebhookRecord): string =>
  printWebhook(record, holdsAnywhere(grants, 'webhook:update'))

const one = (caller: Caller, record: WebhookRecord): Reply => ({
  status: 200,
  json: shownTo(caller, record),
})

const listTypes = () =>
  operation({
    name: 'listEventTypes',
    method: 'GET',
    path: '/webhooks/event-types',
    summary: 'List the types of events',
    permission: 'webhook:read',
    success: { status: 200, schema: eventTypesSchema, examples: eventTypesExamples },
    failures: [401, 403],
    run: () => ({ status: 200, json: JSON.stringify(eventTypes) }),
  })

const listAll = (deps: Deps) =>
  operation({
    name: 'listWebhooks',
    method: 'GET',
    path: '/webhooks',
    readsPages: true,
    summary: 'List webhooks, newest first',
    permission: 'webhook:read',
    query: listWebhooksQuery,
    success: { status: 200, schema: webhookListSchema, examples: webhookListExamples },
    failures: [400, 401, 403],
    async run({ caller, query }) {
      const { size } = readPageRequest(query)
      const records = await listWebhooks(deps, caller)
      const items = records.map(record => shownTo(caller, record))
      return { status: 200, json: printStretch(size, undefined, items) }
    },
  })

const create = (deps: Deps) =>
  operation({
    name: 'createWebhook',
    method: 'POST',
    path: '/webhooks',
    about: 'object',
    summary: 'Create a webhook; the answer holds its secret, once',
    permission: 'webhook:create',
    body: { contentType, schema: createWebhookSchema, examples: createWebhookExamples, opaque },
    success: {
      status: 201,
      schema: webhookSchema,
      examples: newWebhookExamples,
      hasLocation: true,
    },
    failures: [400, 401, 403, 409, 413, 415],
    async run({ caller }, body) {
      const { record, secret } = await createWebhook(deps, caller, body)
      return { status: 201, json: printWebhook(record, true, secret.reveal()), madeId: record.id }
    },
  })

const get = (deps: Deps) =>
  operation({
    name: 'getWebhook',
    method: 'GET',
    path: '/webhooks/:id',
    about: 'object',
    summary: 'Get a webhook, without its secret',
    permission: 'webhook:read',
    success: oneWebhook,
    failures: [401, 403, 404],
    run: async ({ caller, params }) => one(caller, await getWebhook(deps, caller, params.id)),
  })

const update = (deps: Deps) =>
  operation({
    name: 'updateWebhook',
    method: 'PUT',
    path: '/webhooks/:id',
    about: 'object',
    summary: 'Replace name, address and events; enable or disable it',
    permission: 'webhook:update',
    body: { contentType, schema: updateWebhookSchema, examples: updateWebhookExamples, opaque },
    success: oneWebhook,
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: async ({ caller, params }, body) =>
      one(caller, await updateWebhook(deps, caller, params.id, body)),
    replay: async ({ caller, params }) => one(caller, await getWebhook(deps, caller, params.id)),
  })

const rotate = (deps: Deps) =>
  operation({
    name: 'rotateWebhook',
    method: 'POST',
    path: '/webhooks/:id/rotate',
    about: 'object',
    summary: 'Make a new secret, which the answer holds, once; for a while both sign',
    permission: 'webhook:update',
    body: {
      contentType,
      schema: rotateWebhookSchema,
      examples: rotateWebhookExamples,
      opaque,
      isOptional: true,
    },
    success: { status: 200, schema: webhookSchema, examples: newWebhookExamples },
    failures: [400, 401, 403, 404, 409, 413, 415],
    async run({ caller, params }, body) {
      const { record, secret } = await rotateWebhook(deps, caller, params.id, body ?? {})
      return { status: 200, json: printWebhook(record, true, secret.reveal()) }
    },
  })

const remove = (deps: Deps) =>
  operation({
    name: 'deleteWebhook',
    method: 'DELETE',
    path: '/webhooks/:id',
    about: 'object',
    summary: 'Delete a webhook, with all that waits for it',
    permission: 'webhook:delete',
    success: { status: 204 },
    failures: [401, 403, 404, 409],
    async run({ caller, params }) {
      await deleteWebhook(deps, caller, params.id)
      return { status: 204 }
    },
  })

export const webhookRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, listTypes()))
    .route(...routeOf(pipeline, listAll(deps)))
    .route(...routeOf(pipeline, create(deps)))
    .route(...routeOf(pipeline, get(deps)))
    .route(...routeOf(pipeline, update(deps)))
    .route(...routeOf(pipeline, rotate(deps)))
    .route(...routeOf(pipeline, remove(deps)))
