/**
 * Bodies of requests and answers about webhooks, for the documentation.
 * @module
 */

const settable = {
  name: 'Orders',
  url: 'https://hooks.shop.example/coffer',
  events: ['token.created', 'token.deleted', 'token.expired'],
} as const

const webhook = {
  id: '5f0c9c5e-5d0f-4ac5-b4cb-3f0f2c7c5a44',
  tenant_id: '77cb0024-123e-41a8-8ff8-a3d5a0fa8a08',
  status: 'enabled',
  ...settable,
  created_by: '1b6f6b9a-3f5e-4e0b-9a53-2f0c1a7a9d10',
  created_at: '2026-03-01T08:20:00.000+00:00',
}

const secret = 'whsec_yv7vK3vB2w0v0dUrnWlB6dVHcL8y9q7gV7H3b0mYV5g='

const delivery = {
  sequence: 4711,
  event_id: '4711_0_5f0c2a9e',
  type: 'token.created',
  status: 'waiting',
  attempts: 3,
  failure: '503',
  next_attempt_at: '2026-03-01T08:50:00.000+00:00',
}

export const createWebhookExamples = { orders: settable }
export const updateWebhookExamples = { again: { ...settable, status: 'enabled' } }
export const webhookExamples = { orders: webhook }
export const newWebhookExamples = { orders: { ...webhook, secret } }
export const webhookListExamples = { page: { pagination: { page_size: 20 }, data: [webhook] } }
export const eventTypesExamples = { some: ['token.created', 'token.deleted'] }
export const publicKeyExamples = {
  key: { key: 'whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=' },
}
export const rotateWebhookExamples = { day: { overlap_hours: 24 }, leaked: { overlap_hours: 0 } }
export const replayWebhookExamples = { all: { from: 0 } }
export const deliveryListExamples = {
  page: {
    pagination: { total_items: 1, page_number: 1, page_size: 20, total_pages: 1 },
    data: [delivery],
  },
}
