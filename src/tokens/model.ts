/**
 * Wire shapes of tokens: what requests may hold and what responses look like.
 *
 * `data`, `mask` and `metadata` are opaque here: they reach the service as `Json`, which keeps
 * numbers and key order as they came, and the domain checks them.
 * Source: spec, "Token object", "Token create request fields", "Update token".
 * @module
 */
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { Json } from '../domain/json.ts'
import { tokenTypeNames } from '../domain/token-types.ts'
import { pageNumberMax, pageSizeMax, searchQueryCharsMax } from '../limits.ts'

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
  deduplicate_token: nullable(
    Type.Boolean({ description: 'Whether a live token of equal type and fingerprint serves.' }),
  ),
  expires_at: text(),
}

export const createTokenSchema = Type.Object({
  id: nullable(
    Type.String({ description: 'A text, or an expression on `data`; a UUID where it is absent.' }),
  ),
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
  readonly deduplicate_token?: boolean | null
  readonly expires_at?: string | null
}

export interface CreateTokenBody extends TokenChanges {
  readonly id?: string | null
  readonly type: string
}

/** Of an equal token that the caller may not read little is said (contract sections 8 and 9). */
const unlessDuplicate = <T extends TSchema>(schema: T) => Type.Optional(schema)

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
  created_by: unlessDuplicate(Type.String({ format: 'uuid' })),
  created_at: unlessDuplicate(Type.String({ format: 'date-time' })),
  modified_by: Type.Optional(Type.String({ format: 'uuid' })),
  modified_at: Type.Optional(Type.String({ format: 'date-time' })),
  search_indexes: unlessDuplicate(Type.Array(Type.String())),
  fingerprint_expression: unlessDuplicate(Type.String()),
  expires_at: Type.Optional(Type.String({ format: 'date-time' })),
  _extras: Type.Optional(
    Type.Object(
      { deduplicated: Type.Boolean() },
      { description: 'In the answer of create and update, where deduplication is on.' },
    ),
  ),
})

export const listTokensQuery = Type.Object({
  id: Type.Optional(Type.Array(Type.String())),
  type: Type.Optional(Type.Array(Type.String())),
  container: Type.Optional(Type.Array(Type.String())),
  fingerprint: Type.Optional(Type.Array(Type.String())),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  page: Type.Optional(Type.Integer()),
  size: Type.Optional(Type.Integer()),
  start: Type.Optional(
    Type.String({ description: 'Asks for a walk: empty at first, then the `next` that came.' }),
  ),
})

export const searchTokensSchema = Type.Object({
  query: nullable(
    Type.String({
      maxLength: searchQueryCharsMax,
      description: 'What to find; all tokens where it is absent or blank.',
    }),
  ),
  page: nullable(Type.Integer({ minimum: 1, maximum: pageNumberMax })),
  size: nullable(Type.Integer({ minimum: 1, maximum: pageSizeMax })),
  start: nullable(
    Type.String({ description: 'Asks for a walk: empty at first, then the `next` that came.' }),
  ),
})

export type SearchTokensBody = Static<typeof searchTokensSchema>

export const tokenListSchema = Type.Object({
  pagination: Type.Union([
    Type.Object({
      total_items: Type.Integer(),
      page_number: Type.Integer(),
      page_size: Type.Integer(),
      total_pages: Type.Integer(),
    }),
    Type.Object({
      next: Type.Optional(Type.String({ description: 'Absent on the last stretch of a walk.' })),
      page_size: Type.Integer(),
    }),
  ]),
  data: Type.Array(tokenSchema),
})
