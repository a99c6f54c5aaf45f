/**
 * Wire shapes of applications: what requests may hold and what responses look like.
 *
 * Source: spec, "Application object", "Access rule"; contract sections 11 and 13.
 * @module
 */
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { transforms } from '../domain/access.ts'
import { applicationTypes, permissions } from '../domain/permissions.ts'
import { descriptionCharsMax, nameCharsMax, permissionsMax, rulesMax } from '../limits.ts'

const oneOf = <const T extends readonly string[]>(values: T, expected: string) =>
  Type.Union(
    values.map(value => Type.Literal(value as T[number])),
    { expected },
  )

const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const permission = oneOf(permissions, 'expected the name of a permission')
const permissionList = Type.Array(permission, { maxItems: permissionsMax })

/** Member by member as the spec's table; `conditions` is for sessions and refused in the rules. */
export const ruleSchema = Type.Object({
  description: nullable(Type.String({ maxLength: descriptionCharsMax })),
  priority: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
  container: nullable(Type.String()),
  conditions: Type.Optional(Type.Unknown()),
  transform: oneOf(transforms, `expected one of ${transforms.join(', ')}`),
  permissions: Type.Array(permission, { minItems: 1, maxItems: permissionsMax }),
})

const grants = {
  name: Type.String({ minLength: 1, maxLength: nameCharsMax }),
  permissions: nullable(permissionList),
  rules: nullable(Type.Array(ruleSchema, { maxItems: rulesMax })),
}

export const createApplicationSchema = Type.Object({
  ...grants,
  type: oneOf(applicationTypes, `expected one of ${applicationTypes.join(', ')}`),
  expires_at: nullable(Type.String()),
})

export const updateApplicationSchema = Type.Object(grants)

export type RuleBody = Static<typeof ruleSchema>
export type CreateApplicationBody = Static<typeof createApplicationSchema>
export type UpdateApplicationBody = Static<typeof updateApplicationSchema>

export const applicationSchema = Type.Object({
  id: Type.String({ format: 'uuid' }),
  tenant_id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  key: Type.Optional(Type.String({ description: 'Only when it was just made.' })),
  type: createApplicationSchema.properties.type,
  permissions: Type.Array(Type.String()),
  rules: Type.Array(ruleSchema),
  created_by: Type.Optional(Type.String({ format: 'uuid' })),
  created_at: Type.String({ format: 'date-time' }),
  modified_by: Type.Optional(Type.String({ format: 'uuid' })),
  modified_at: Type.Optional(Type.String({ format: 'date-time' })),
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
})
