/**
 * Wire shapes of tokens: the fields of requests and responses.
 *
 * `data`, `mask` and `metadata` are opaque here: they reach the service as `Json`, which keeps
 * numbers and key order as sent, and the domain checks them.
 * Source: spec, "Token object", "Token create request fields", "Update token".
 * @module
 */
import { Type, type Static, type TSchema } from '@sinclair/typebox'
import type { Json } from '../lib/json/json.ts'
import { queryExpected } from '../language/search-query.ts'
import { lesserTransforms } from '../rules/access.ts'
import { tokenTypeNames } from '../rules/token-types.ts'
import {
  containersMax,
  idFilterMax,
  pageNumberMax,
  pageSizeMax,
  searchIndexesMax,
  searchQueryCharsMax,
} from '../limits/limits.ts'
import { closed, described, nullable, oneOf, pageQuery, pageShape } from '../lib/schemas.ts'
import { ownAccessSchema } from './access/schema.ts'
import { dataByType } from './data-shapes.ts'

export const opaqueMembers: ReadonlySet<string> = new Set(['data', 'mask', 'metadata'])

const opaque = (description: string) => Type.Optional(Type.Any({ description }))

const text = (description: string) => nullable(Type.String({ description }))

const textList = (description: string, maxItems: number) =>
  Type.Array(Type.String(), { description, maxItems })

/** The keyword tells readers of the document what the server enforces (contract section 9). */
const anyData = {
  description: 'Any JSON but null; its shape depends on the type.',
  not: { type: 'null' },
}

/** `null` drops a pair on update. */
const textsByName = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'null'] },
  description: 'Texts by name. Not sensitive.',
}

/** Checked in the domain, whose error says more. */
const typeName = Type.String({
  title: 'TokenType',
  enum: tokenTypeNames,
  description: 'What it holds.',
})

const containers = textList(
  'One path such as `/pci/high/`; the default depends on the type.',
  containersMax,
)

const changeable = {
  data: Type.Optional(Type.Any(anyData)),
  mask: opaque('An expression, or an array or object whose leaves are expressions.'),
  metadata: Type.Optional(Type.Any(textsByName)),
  /** A token always has at least one (contract section 9). */
  containers: Type.Optional(containers),
  search_indexes: nullable(
    textList('Expressions on `data`; a search for `data` finds their values.', searchIndexesMax),
  ),
  fingerprint_expression: text('What the fingerprint is of; the default depends on the type.'),
  deduplicate_token: nullable(
    Type.Boolean({ description: 'Whether a live token of equal type and fingerprint serves.' }),
  ),
  expires_at: text(
    'ISO 8601, `M/D/YYYY h:mm:ss AM ±hh:mm` or `M/D/YYYY`; without offset in UTC. ' +
      'From then on the token is expired.',
  ),
}

export const createTokenSchema = Type.Object(
  {
    id: text('A text, or an expression on `data`; a UUID where it is absent.'),
    type: typeName,
    ...changeable,
    containers: nullable(containers),
    data: Type.Any(anyData),
  },
  { title: 'CreateTokenRequest', allOf: dataByType },
)

export const updateTokenSchema = Type.Object(changeable, {
  title: 'UpdateTokenRequest',
  description: 'RFC 7386: `data`, `mask` and `metadata` are merged, all else is replaced.',
})

/** The type of a schema, with `Json` for the opaque members. */
type Opaque<T> = {
  readonly [K in keyof T]: K extends 'data' | 'mask' | 'metadata' ? Json : T[K]
}

/** Members that create and update share. On update, absent and `null` differ. */
export type TokenPatch = Opaque<Static<typeof updateTokenSchema>>

export type CreateTokenBody = Opaque<Static<typeof createTokenSchema>>

/** Optional: an equal token that the caller may not read lacks most (contract sections 8 and 9). */
const unlessDuplicate = <T extends TSchema>(schema: T) => Type.Optional(schema)

export const tokenSchema = Type.Object(
  {
    id: Type.String(),
    tenant_id: unlessDuplicate(Type.String({ format: 'uuid' })),
    type: typeName,
    data: Type.Optional(
      Type.Any({
        description: 'Masked or revealed, absent if redacted. Of a mask it may be null.',
      }),
    ),
    mask: Type.Optional(Type.Any({ description: 'As it was written.' })),
    fingerprint: Type.Optional(
      Type.String({ description: 'Equal for equal content of one type; absent if redacted.' }),
    ),
    containers: unlessDuplicate(Type.Array(Type.String())),
    metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
    created_by: unlessDuplicate(Type.String({ format: 'uuid' })),
    created_at: unlessDuplicate(Type.String({ format: 'date-time' })),
    modified_by: Type.Optional(Type.String({ format: 'uuid' })),
    modified_at: Type.Optional(Type.String({ format: 'date-time' })),
    search_indexes: unlessDuplicate(Type.Array(Type.String())),
    fingerprint_expression: unlessDuplicate(Type.String()),
    expires_at: Type.Optional(Type.String({ format: 'date-time' })),
    _extras: Type.Optional(
      Type.Object({
        deduplicated: Type.Optional(
          Type.Boolean({
            description: 'In the answer of create and update, where deduplication is on.',
          }),
        ),
        cvc_expires_at: Type.Optional(
          Type.String({
            format: 'date-time',
            description: 'Of a card with a cvc: when that ends, by itself.',
          }),
        ),
        access: Type.Optional(ownAccessSchema),
      }),
    ),
  },
  { title: 'Token' },
)

const lesser = described(oneOf(lesserTransforms, 'LesserTransform'), {
  description: 'Asks for at most that: the lesser of it and what the rules give is shown.',
})

const lesserQuery = { transform: Type.Optional(described(lesser, { examples: ['mask'] })) }

/** Open: other names were never refused here. */
export const getTokenQuery = Type.Object({
  ...lesserQuery,
  explain: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Tells in `_extras` which of the own rules decides.',
      examples: [true],
    }),
  ),
})

const walkStart = 'Asks for a walk: empty at first, then the `next` that came.'
const pageNumber = { minimum: 1, maximum: pageNumberMax }
const pageSize = { minimum: 1, maximum: pageSizeMax }

/** A filter that may be repeated; any of its values may match. */
const anyOf = (description: string, example: string, bounds: { maxItems?: number } = {}) =>
  Type.Optional(Type.Array(Type.String(), { description, examples: [[example]], ...bounds }))

/** For the documentation; `filters.ts` reads these parameters. */
export const listTokensQuery = Type.Object(
  {
    id: anyOf('Ids of tokens.', 'c06d0789-0a38-40be-b7cc-c28a718f76f1', { maxItems: idFilterMax }),
    type: anyOf('Types of tokens.', 'card'),
    container: anyOf('Containers, with all that is below them.', '/pci/high/'),
    fingerprint: anyOf('Fingerprints.', '4NkXZGhpQk5wUi2fmSHsWPnKVzLJqC9BdTr8vYeAt63M'),
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description:
          'All of these pairs, whatever the case; the first of a repeated key counts. Written ' +
          '`metadata[key]=value`, `metadata.key=value` or `metadata={"key":"value"}`.',
        examples: [{ order: 'A-1027' }],
      }),
    ),
    ...lesserQuery,
    ...pageQuery('How many tokens are in a page or a stretch.'),
    start: Type.Optional(Type.String({ description: walkStart, examples: [''] })),
  },
  closed,
)

/** For addresses that offer walks alone. */
export const walkTokensQuery = Type.Omit(listTokensQuery, ['page'], closed)

export const searchTokensSchema = Type.Object(
  {
    query: Type.String({
      minLength: 1,
      maxLength: searchQueryCharsMax,
      description: 'What to find; `*` alone finds all tokens.',
      missing: queryExpected,
    }),
    page: nullable(Type.Integer(pageNumber)),
    size: nullable(Type.Integer(pageSize)),
    start: text(walkStart),
    transform: nullable(lesser),
  },
  { ...closed, title: 'TokenSearch' },
)

export type SearchTokensBody = Static<typeof searchTokensSchema>

const paginationSchema = pageShape('TokenPage', 'Exactly what the caller may see.')

const stretchSchema = Type.Object(
  {
    next: Type.Optional(Type.String({ description: 'Absent on the last stretch of a walk.' })),
    page_size: Type.Integer(),
  },
  { title: 'TokenStretch' },
)

export const tokenListSchema = Type.Object(
  {
    pagination: Type.Union([paginationSchema, stretchSchema]),
    data: Type.Array(tokenSchema),
  },
  { title: 'TokenList' },
)

export const tokenWalkSchema = Type.Object(
  { pagination: stretchSchema, data: Type.Array(tokenSchema) },
  { title: 'TokenWalk' },
)
