/**
 * Wire shapes of sessions: the fields of requests and responses.
 *
 * Source: spec, "Create-session response object", "Authorize session", "Access rule"; contract
 * sections 11 and 12.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { base58Pattern } from '../lib/bytes.ts'
import { conditionAttributes, conditionOperators, transforms } from '../rules/access.ts'
import { tokenPermissions } from '../rules/permissions.ts'
import {
  descriptionCharsMax,
  pageSizeDefault,
  pageSizeMax,
  permissionsMax,
  ruleConditionsMax,
  rulesMax,
} from '../limits/limits.ts'
import { closed, nullable, oneOf } from '../lib/schemas.ts'

const permission = oneOf(tokenPermissions, 'TokenPermission')

const conditionSchema = Type.Object(
  {
    attribute: oneOf(conditionAttributes, 'ConditionAttribute'),
    operator: oneOf(conditionOperators, 'ConditionOperator'),
    value: Type.String({
      minLength: 1,
      description: 'Compared exactly; containers are compared in lower case.',
    }),
  },
  { ...closed, title: 'Condition' },
)

const sessionRuleSchema = Type.Object(
  {
    description: nullable(Type.String({ maxLength: descriptionCharsMax })),
    priority: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    container: nullable(Type.String()),
    conditions: nullable(Type.Array(conditionSchema, { minItems: 1, maxItems: ruleConditionsMax })),
    transform: oneOf(transforms, 'Transform'),
    permissions: Type.Array(permission, { minItems: 1, maxItems: permissionsMax }),
  },
  {
    ...closed,
    title: 'SessionRule',
    description: 'Either `container` or `conditions`, of which all must hold.',
  },
)

export const authorizeSessionSchema = Type.Object(
  {
    nonce: Type.String({ description: 'From the creation of the session. It is used up.' }),
    permissions: nullable(Type.Array(permission, { maxItems: permissionsMax })),
    rules: nullable(Type.Array(sessionRuleSchema, { maxItems: rulesMax })),
    expires_at: nullable(
      Type.String({
        description: 'At most 24 hours ahead. If absent, 3 minutes after the creation.',
      }),
    ),
  },
  { ...closed, title: 'SessionGrants' },
)

export type SessionRuleBody = Static<typeof sessionRuleSchema>
export type AuthorizeSessionBody = Static<typeof authorizeSessionSchema>

const uuid = () => Type.String({ format: 'uuid' })
const instant = () => Type.String({ format: 'date-time' })

/** For the documentation; the list reads these parameters. */
export const listSessionsQuery = Type.Object(
  {
    start: Type.Optional(
      Type.String({ description: 'Empty at first, then the `next` that came.', examples: [''] }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageSizeMax,
        default: pageSizeDefault,
        description: 'How many sessions a stretch holds at most.',
        examples: [20],
      }),
    ),
  },
  closed,
)

const listedSessionSchema = Type.Object(
  {
    id: uuid(),
    tenant_id: uuid(),
    created_by: Type.String({ format: 'uuid', description: 'The public application.' }),
    created_at: instant(),
    authorized: Type.Boolean(),
    authorized_by: Type.Optional(
      Type.String({ format: 'uuid', description: 'The private application.' }),
    ),
    authorized_at: Type.Optional(instant()),
    expires_at: instant(),
  },
  { title: 'Session' },
)

export const sessionListSchema = Type.Object(
  {
    pagination: Type.Object(
      {
        next: Type.Optional(Type.String({ description: 'Absent on the last stretch.' })),
        page_size: Type.Integer(),
      },
      { title: 'SessionStretch' },
    ),
    data: Type.Array(listedSessionSchema),
  },
  { title: 'SessionList' },
)

export const newSessionSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    session_key: Type.String({
      pattern: `^key_sess_${base58Pattern}$`,
      description: 'The key of the session, shown this once.',
    }),
    nonce: Type.String({
      pattern: `^${base58Pattern}$`,
      description: 'Authorizes the session, once.',
    }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { title: 'CreateSessionResponse' },
)
