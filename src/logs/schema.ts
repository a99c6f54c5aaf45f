/**
 * Wire shapes of the audit log: queries and answers. Source: contract sections 4 and 17.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { transforms } from '../rules/access.ts'
import { closed, oneOf, pageQuery, pageShape } from '../lib/schemas.ts'

const filterBy = (description: string, example: string) =>
  Type.Optional(Type.String({ description, examples: [example] }))

export const resultMin = 100
export const resultMax = 599

/** For the documentation; `log-filters.ts` reads these parameters. */
export const listLogsQuery = Type.Object(
  {
    entity_type: filterBy('Kind of the things that were asked for.', 'token'),
    entity_id: filterBy('Id of one of them.', 'c06d0789-0a38-40be-b7cc-c28a718f76f1'),
    start_date: filterBy('The first instant, as `expires_at` of a token.', '2026-03-01T00:00:00Z'),
    end_date: filterBy('The first instant that is too late.', '2026-03-02T00:00:00Z'),
    operation: filterBy('Name of the operation, as in this document.', 'getToken'),
    actor_id: filterBy('Id of an application.', '0e3a9d3c-5d0f-4ac5-b4cb-3f0f2c7c5a44'),
    key_id: filterBy('Id of a key of an application.', '7c1f0c52-1f6e-4a53-9f0b-6a3b0a2f4d11'),
    transform: Type.Optional(
      Type.Union(
        transforms.map(name => Type.Literal(name)),
        { description: 'The transform that showed most of any token.', examples: ['reveal'] },
      ),
    ),
    result: Type.Optional(
      Type.Integer({
        minimum: resultMin,
        maximum: resultMax,
        description: 'Status of the answer.',
        examples: [200],
      }),
    ),
    trace_id: filterBy('Trace id of the request.', 'checkout-4711'),
    from: filterBy('Client address.', '192.0.2.7'),
    ...pageQuery('How many entries are in a page, or at most in a stretch.'),
    start: Type.Optional(
      Type.String({
        description: 'Asks for a walk: empty at first, then the `next` that came.',
        examples: [''],
      }),
    ),
  },
  closed,
)

const text = (description: string) => Type.Optional(Type.String({ description }))

const entrySchema = Type.Object(
  {
    id: Type.String({ description: 'The sequence as a text.' }),
    sequence: Type.Integer({
      minimum: 0,
      description: 'Its place in the log of the installation, which all tenants share.',
    }),
    tenant_id: Type.String({ format: 'uuid' }),
    actor_id: Type.Optional(Type.String()),
    actor_type: text('Type of the key; `operator`, or `vault` for what it does by itself.'),
    key_id: Type.Optional(Type.String()),
    session_id: Type.Optional(Type.String()),
    operation: Type.String({ description: 'Name of the operation, as in this document.' }),
    entity_type: text('Kind of the things that were asked for.'),
    entity_id: text('Id of the thing, if it is one.'),
    entity_ids: Type.Optional(
      Type.Array(Type.String(), { description: 'Ids of the things, if they are several.' }),
    ),
    transform: Type.Optional(oneOf(transforms, 'Transform')),
    rule: text('What decided: `rule 0` by its place in order, a permission, or `none`.'),
    result: Type.Integer(),
    reason: text('Code of the error, or `replay` for an answer that repeats an earlier effect.'),
    stated_reason: text('As the caller has stated it in `SVC-REASON`.'),
    searched: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Names of the fields that a search asked for, or `*`; never their values.',
      }),
    ),
    message: Type.String({ description: 'The same for people.' }),
    trace_id: Type.Optional(Type.String()),
    from: Type.Optional(Type.String()),
    count: Type.Optional(
      Type.Integer({ minimum: 2, description: 'Number of equal events that it stands for.' }),
    ),
    created_at: Type.String({ format: 'date-time' }),
  },
  { title: 'LogEntry' },
)

const pageSchema = pageShape('LogPage', 'Exactly what matches.')

const stretchSchema = Type.Object(
  {
    next: Type.Optional(Type.String({ description: 'Absent on the last stretch of a walk.' })),
    page_size: Type.Integer(),
  },
  { title: 'LogStretch' },
)

export const logListSchema = Type.Object(
  { pagination: Type.Union([pageSchema, stretchSchema]), data: Type.Array(entrySchema) },
  { title: 'LogList' },
)

export const entityTypesSchema = Type.Array(
  Type.Object(
    { display_name: Type.String(), value: Type.String({ description: 'For `entity_type`.' }) },
    { title: 'LogEntityType' },
  ),
)
