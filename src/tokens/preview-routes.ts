/**
 * The operation that evaluates expressions on sample data.
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { operation } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { routeOf } from '../http/routes.ts'
import { createTokenExamples, previewExamples } from './token-examples.ts'
import { createTokenSchema, opaqueMembers, tokenSchema } from './schema.ts'
import { previewToken } from './write/preview.ts'

const { properties } = tokenSchema

const previewSchema = Type.Object(
  {
    id: Type.Optional(
      Type.String({ description: 'Absent: a random UUID. By chance, one of many such ids.' }),
    ),
    type: properties.type,
    data: Type.Optional(Type.Any({ description: 'Masked; absent if the mask shows nothing.' })),
    mask: properties.mask,
    containers: Type.Array(Type.String()),
    metadata: properties.metadata,
    search_indexes: Type.Array(Type.String()),
    search_texts: Type.Array(Type.String(), {
      description: 'What a search for `data` would find it by, whatever the case.',
    }),
    fingerprint_expression: Type.String(),
    fingerprint_text: Type.String({
      description: 'Tokens of one type in which it is equal have one fingerprint.',
    }),
    expires_at: properties.expires_at,
  },
  { title: 'TokenPreview' },
)

const preview = (deps: Deps) =>
  operation({
    name: 'previewExpressions',
    method: 'POST',
    path: '/expressions/preview',
    summary: 'Evaluate the expressions of a token on sample data, without storing it',
    description:
      'Takes what a create takes, and refuses what that would refuse for its form. Ids in use, ' +
      'equal tokens and the rules of an application are not looked at.',
    permission: 'expression:preview',
    body: {
      contentType: 'application/json',
      schema: createTokenSchema,
      examples: createTokenExamples,
      opaque: opaqueMembers,
    },
    success: { status: 200, schema: previewSchema, examples: previewExamples },
    failures: [400, 401, 403, 413, 415],
    run: async ({ caller }, body) => ({
      status: 200,
      json: await previewToken(deps, caller, body),
    }),
  })

export const previewRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia().route(...routeOf(pipeline, preview(deps)))
