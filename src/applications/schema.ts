/**
 * Wire shapes of applications: the fields of requests and responses.
 *
 * Source: spec, "Application object", "Access rule"; contract sections 11 and 13.
 * @module
 */
import { Type, type Static } from '@sinclair/typebox'
import { transforms } from '../rules/access.ts'
import { applicationTypes, offeredPermissions, unguardedPermissions } from '../rules/permissions.ts'
import {
  descriptionCharsMax,
  idFilterMax,
  nameCharsMax,
  permissionsMax,
  rulesMax,
} from '../limits/limits.ts'
import { simulationSchema } from './access-change-schema.ts'
import { apiKeyPattern } from './api-keys.ts'
import { closed, nullable, oneOf, pageQuery, pageShape } from '../lib/schemas.ts'

const unguarded = Type.Union(
  unguardedPermissions.map(name => Type.Literal(name)),
  { deprecated: true, description: 'Taken from clients that send them. They guard nothing.' },
)

const permission = Type.Union([oneOf(offeredPermissions, 'PermissionName'), unguarded], {
  names: offeredPermissions,
})
const permissionList = Type.Array(permission, { maxItems: permissionsMax })

/** Members as in the spec's table; `conditions` is for sessions and refused here. */
const ruleSchema = Type.Object(
  {
    description: nullable(Type.String({ maxLength: descriptionCharsMax })),
    priority: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    container: Type.String({ description: 'Covers itself and all below.' }),
    conditions: Type.Optional(Type.Unknown({ description: 'Refused: sessions alone have them.' })),
    transform: oneOf(transforms, 'Transform'),
    permissions: Type.Array(permission, { minItems: 1, maxItems: permissionsMax }),
  },
  { ...closed, title: 'RuleRequest' },
)

const grants = {
  name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
  permissions: nullable(permissionList),
  rules: nullable(
    Type.Array(ruleSchema, {
      maxItems: rulesMax,
      description: 'The first by priority that covers a token and holds the permission decides.',
    }),
  ),
}

export const createApplicationSchema = Type.Object(
  {
    ...grants,
    type: oneOf(applicationTypes, 'ApplicationType'),
    expires_at: nullable(Type.String({ description: 'From then on the key is refused.' })),
  },
  { title: 'CreateApplicationRequest' },
)

/** As an update would grant them. */
export const proposedGrantsSchema = Type.Object(
  { permissions: grants.permissions, rules: grants.rules },
  { ...closed, title: 'ProposedGrants' },
)

export const updateApplicationSchema = Type.Object(grants, {
  title: 'UpdateApplicationRequest',
})

/** Open: other names were never refused here. */
export const updateApplicationQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Changes nothing: shows the application as it would be, and in `_extras` how many tokens ' +
        'it would see otherwise. Needs `access:explain` and `application:read` too.',
      examples: [true],
    }),
  ),
  confirm: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Reveals any number of tokens, where the vault has a limit for one change.',
      examples: [true],
    }),
  ),
})

export type RuleBody = Static<typeof ruleSchema>
export type CreateApplicationBody = Static<typeof createApplicationSchema>
export type UpdateApplicationBody = Static<typeof updateApplicationSchema>

const shownRuleSchema = Type.Object(
  {
    description: Type.Optional(Type.String()),
    priority: Type.Integer(),
    container: Type.String(),
    transform: ruleSchema.properties.transform,
    permissions: Type.Array(permission),
  },
  { title: 'Rule' },
)

export const applicationSchema = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    tenant_id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    key: Type.Optional(
      Type.String({ pattern: apiKeyPattern, description: 'Only when it was just made.' }),
    ),
    type: createApplicationSchema.properties.type,
    permissions: Type.Array(permission),
    rules: Type.Array(shownRuleSchema),
    created_by: Type.Optional(Type.String({ format: 'uuid' })),
    created_at: Type.String({ format: 'date-time' }),
    modified_by: Type.Optional(Type.String({ format: 'uuid' })),
    modified_at: Type.Optional(Type.String({ format: 'date-time' })),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    _extras: Type.Optional(simulationSchema),
  },
  { title: 'Application' },
)

export const applicationListSchema = Type.Object(
  {
    pagination: pageShape('ApplicationPage'),
    data: Type.Array(applicationSchema),
  },
  { title: 'ApplicationList' },
)

/** For the documentation; the list reads these parameters. */
export const listApplicationsQuery = Type.Object(
  {
    id: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: idFilterMax,
        description: 'Ids of applications.',
        examples: [['0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44']],
      }),
    ),
    type: Type.Optional(
      Type.Array(createApplicationSchema.properties.type, {
        description: 'Types of applications.',
        examples: [['private', 'public']],
      }),
    ),
    ...pageQuery('How many applications are on a page.'),
  },
  closed,
)
