/**
 * Wire shapes of webhooks, of their deliveries and of events. Names are those of published clients
 * (docs/compatibility.md).
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import {
  destinationCharsMax,
  nameCharsMax,
  notifyEmailCharsMax,
  sequenceMax,
  webhookOverlapHoursDefault,
  webhookOverlapHoursMax,
} from '../limits/limits.ts'
import { closed, nullable, oneOf, pageQuery, pageShape } from '../lib/schemas.ts'
import { eventTypes } from './event-types.ts'

const secretPattern = '^whsec_[A-Za-z0-9+/]+={0,2}$'
const uuid = Type.String({ format: 'uuid' })
const instant = Type.String({ format: 'date-time' })
const status = oneOf(['enabled', 'disabled'], 'WebhookStatus')

const settable = {
  name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
  url: Type.String({
    minLength: 1,
    maxLength: destinationCharsMax,
    description: 'Begins with https://. It may lead to public addresses, and to allowed ones.',
  }),
  events: Type.Array(oneOf(eventTypes, 'EventType'), {
    minItems: 1,
    maxItems: eventTypes.length,
    uniqueItems: true,
  }),
  notify_email: nullable(
    Type.String({ maxLength: notifyEmailCharsMax, description: 'Kept; no mail is sent.' }),
  ),
}

export const createWebhookSchema = Type.Object(settable, { title: 'CreateWebhookRequest' })

export const updateWebhookSchema = Type.Object(
  { ...settable, status: nullable(status) },
  { title: 'UpdateWebhookRequest' },
)

export type CreateWebhookBody = Static<typeof createWebhookSchema>
export type UpdateWebhookBody = Static<typeof updateWebhookSchema>

export const webhookSchema = Type.Object(
  {
    id: uuid,
    tenant_id: uuid,
    status,
    disabled_by: Type.Optional(oneOf(['gone', 'failing'], 'WebhookDisabledBy')),
    name: settable.name,
    url: Type.String({ description: 'Its path and query are shown to who may update it.' }),
    notify_email: Type.Optional(Type.String()),
    events: settable.events,
    secret: Type.Optional(
      Type.String({ pattern: secretPattern, description: 'Only when it was just made.' }),
    ),
    created_by: uuid,
    created_at: instant,
    modified_by: Type.Optional(uuid),
    modified_at: Type.Optional(instant),
  },
  { title: 'Webhook' },
)

export const webhookListSchema = Type.Object(
  {
    pagination: Type.Object({ page_size: Type.Integer() }, { title: 'WebhookPage' }),
    data: Type.Array(webhookSchema),
  },
  { title: 'WebhookList' },
)

export const eventTypesSchema = Type.Array(Type.String(), { title: 'EventTypes' })

export const publicKeySchema = Type.Object(
  {
    key: Type.String({
      pattern: '^whpk_[A-Za-z0-9+/]{43}=$',
      description: 'Verifies signatures v1a of every webhook of this vault.',
    }),
  },
  { title: 'WebhookPublicKey' },
)

export const rotateWebhookSchema = Type.Object(
  {
    overlap_hours: nullable(
      Type.Integer({
        minimum: 0,
        maximum: webhookOverlapHoursMax,
        default: webhookOverlapHoursDefault,
        description: 'How long the secret before signs as well.',
      }),
    ),
  },
  { title: 'RotateWebhookRequest' },
)
export type RotateWebhookBody = Static<typeof rotateWebhookSchema>

export const replayWebhookSchema = Type.Object(
  {
    from: Type.Integer({
      minimum: 0,
      maximum: sequenceMax,
      description: 'Sequence of the first entry of the audit log whose events go once more.',
    }),
  },
  { title: 'ReplayWebhookRequest' },
)

const page = pageQuery('How many are on a page.')

export const listWebhooksQuery = Type.Object(
  {
    size: page.size,
    start: Type.Optional(
      Type.String({
        description: 'Taken, since published clients send it; all are on one page.',
        examples: [''],
      }),
    ),
  },
  closed,
)

export const listDeliveriesQuery = Type.Object(page, closed)

const deliverySchema = Type.Object(
  {
    sequence: Type.Integer({ description: 'Of its entry in the audit log.' }),
    event_id: Type.String(),
    type: Type.Optional(oneOf(eventTypes, 'EventType')),
    status: oneOf(['waiting', 'dead'], 'DeliveryStatus'),
    attempts: Type.Integer(),
    failure: Type.Optional(
      Type.String({
        description:
          'Status of the last answer, or what failed before one: `no_public_address` for a name ' +
          'without address, and for an address that nobody allows.',
      }),
    ),
    next_attempt_at: Type.Optional(instant),
    given_up_at: Type.Optional(instant),
  },
  { title: 'WebhookDelivery' },
)

export const deliveryListSchema = Type.Object(
  {
    pagination: pageShape('DeliveryPage'),
    data: Type.Array(deliverySchema),
  },
  { title: 'WebhookDeliveryList' },
)
