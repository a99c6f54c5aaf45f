/**
 * Wire shapes of tokens: what requests may hold and what responses look like.
 *
 * `data`, `mask` and `metadata` are opaque here: they reach the service as `Json`, which keeps
 * numbers and key order as they came, and the domain checks them.
 * Source: spec, "Token object", "Token create request fields", "Update token".
 * @module
 */
import { Type, type TSchema } from '@sinclair/typebox'
import type { Json } from '../domain/json.ts'
import { tokenTypeNames } from '../domain/token-types.ts'

export const opaqueMembers: ReadonlySet<string> = new Set(['data', 'mask', 'metadata'])

const opaque = (description: string) => Type.Optional(Type.Unsafe<Json>(Type.Any({ description })))

const nullable = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]))

const text = () => nullable(Type.String())

const textList = () => nullable(Type.Array(Type.String()))

const changeable = {
  data: opaque('Any JSON; its shape depends on the type.'),
  mask: opaque('An expression, or an array or object whose leaves are expressions.'),
  metadata: opaque('Texts by name. Not sensitive.'),
  containers: textList(),
  search_indexes: textList(),
  fingerprint_expression: text(),
  deduplicate_token: nullable(Type.Boolean()),
  expires_at: text(),
}

export const createTokenSchema = Type.Object({
  id: text(),
  type: Type.String({ description: `One of ${tokenTypeNames.join(', ')}.` }),
  ...changeable,
})

export const updateTokenSchema = Type.Object(changeable)

/** The members that create and update share. Absent and `null` differ on update. */
export interface TokenChanges {
  readonly data?: Json
  readonly mask?: Json
  readonly metadata?: Json
  readonly containers?: readonly string[] | null
  readonly search_indexes?: readonly string[] | null
  readonly fingerprint_expression?: string | null
  readonly expires_at?: string | null
}

export interface CreateTokenBody extends TokenChanges {
  readonly id?: string | null
  readonly type: string
}

export const tokenSchema = Type.Object({
  id: Type.String(),
  tenant_id: Type.String({ format: 'uuid' }),
  type: Type.String(),
  data: Type.Optional(
    Type.Any({ description: 'Redacted, masked or revealed; absent if redacted.' }),
  ),
  mask: Type.Optional(Type.Any()),
  fingerprint: Type.String(),
  containers: Type.Array(Type.String()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  created_by: Type.String({ format: 'uuid' }),
  created_at: Type.String({ format: 'date-time' }),
  modified_by: Type.Optional(Type.String({ format: 'uuid' })),
  modified_at: Type.Optional(Type.String({ format: 'date-time' })),
  search_indexes: Type.Array(Type.String()),
  fingerprint_expression: Type.String(),
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
})

export const listTokensQuery = Type.Object({
  id: Type.Optional(Type.Array(Type.String())),
  type: Type.Optional(Type.Array(Type.String())),
  container: Type.Optional(Type.Array(Type.String())),
  fingerprint: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  page: Type.Optional(Type.Integer()),
  size: Type.Optional(Type.Integer()),
})
