/**
 * Operations on many tokens at once. Source: contract sections 3 and 15.
 *
 * @module
 */
import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { type Json, printJson } from '../lib/json/json.ts'
import { ApiError, invalid } from '../lib/errors.ts'
import { readEnvelope } from '../http/bodies.ts'
import { operation, type Content, type OperationCall, type Reply } from '../http/operation.ts'
import type { Pipeline } from '../http/pipeline.ts'
import { describeError } from '../http/problem.ts'
import type { QueryParameters } from '../http/request.ts'
import { routeOf } from '../http/routes.ts'
import { bulkLeavesMax } from '../limits/limits.ts'
import type { Past } from '../records/write-rows.ts'
import { spendRepeat } from './find/guesses.ts'
import { detokenize } from './read/detokenize.ts'
import {
  detokenizedExamples,
  detokenizeExamples,
  tokenizedExamples,
  tokenizeExamples,
} from './token-examples.ts'
import { createTokenSchema, opaqueMembers, tokenSchema, type CreateTokenBody } from './schema.ts'
import {
  retokenize,
  type KeptLeaves,
  printWhole,
  resultsOf,
  tokenizePartly,
  tokenizeWhole,
  type ItemResult,
  type ReadRequest,
} from './write/tokenize.ts'

const anyJson = Type.Any({ description: 'Any JSON.' })

const bulkQuery = Type.Object({
  mode: Type.Optional(
    Type.Union([Type.Literal('whole'), Type.Literal('partial')], {
      description: '`whole`, the default: all or nothing. `partial`: each item for itself.',
      default: 'whole',
      examples: ['partial'],
    }),
  ),
})

const partialSchema = Type.Object(
  {
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ description: 'Counts the items of the body from 0.' }),
        path: Type.String({ description: 'Where the item stands, by positions.' }),
        status: Type.Integer({ description: '201, or what is wrong with the item.' }),
        token: Type.Optional(Type.Union([tokenSchema, Type.String()])),
        error: Type.Optional(Type.Any({ description: 'Title, status, detail and errors.' })),
      }),
    ),
    retry: Type.Optional(
      Type.Array(anyJson, { description: 'The items that failed, as they came, in their order.' }),
    ),
  },
  { title: 'TokenizedInPart' },
)

const tokenizedSchema = Type.Union([anyJson, partialSchema])

const bodyLike = (examples: Content['examples']) =>
  ({ contentType: 'application/json', schema: anyJson, examples, opaque: 'all' }) as const

const readRequest: ReadRequest = request =>
  readEnvelope(createTokenSchema, request, opaqueMembers) as CreateTokenBody

function isPartial(query: QueryParameters): boolean {
  const mode = query.get('mode')?.[0] ?? 'whole'
  if (mode !== 'whole' && mode !== 'partial') {
    throw invalid('query.mode', 'expected whole or partial')
  }
  return mode === 'partial'
}

function printResult({ item, outcome }: ItemResult, index: number): string {
  const place = `"index":${index},"path":${JSON.stringify(item.at || 'body')}`
  if (!(outcome instanceof ApiError)) return `{${place},"status":201,"token":${outcome.json}}`
  const error = describeError(outcome)
  return `{${place},"status":${error.status},"error":${JSON.stringify(error)}}`
}

function printResults(results: readonly ItemResult[]): string {
  const failed = results.filter(({ outcome }) => outcome instanceof ApiError)
  const bodies = failed.map(({ item }) => printJson(item.value))
  const retry = failed.length === 0 ? '' : `,"retry":[${bodies.join(',')}]`
  return `{"results":[${results.map(printResult).join(',')}]${retry}}`
}

async function tokenize(deps: Deps, call: OperationCall, body: Json): Promise<Reply> {
  const { caller, query, countItems } = call
  const json = isPartial(query)
    ? printResults(await tokenizePartly(deps, caller, body, readRequest, countItems))
    : await tokenizeWhole(deps, caller, body, readRequest, countItems)
  return { status: 200, json }
}

async function tokenizeAgain(
  deps: Deps,
  { caller, query, countItems }: OperationCall,
  past: Past<KeptLeaves>,
  body: Json,
): Promise<Reply> {
  const isPart = isPartial(query)
  const { leaves, fates } = await retokenize(deps, caller, body, past, countItems)
  const json = isPart ? printResults(resultsOf(leaves, fates)) : printWhole(body, fates)
  return { status: 200, json }
}

const tokenizeDescription = `
Any JSON of at most ${bulkLeavesMax} values. An object with \`data\` and a token type as its
\`type\` is a request as for creating a token, and is answered by the token. Every other text,
number or boolean becomes a token of type \`token\`, and is answered by its id. All else stays as
it is.

With \`mode=partial\` the answer has a result for each item instead, and \`retry\`: the failed
items, which are the only values of a request that an answer repeats. Sent again as it is, its first
item is the first that failed.`.trim()

const detokenizeDescription = `
Any JSON of at most ${bulkLeavesMax} values. A text that is exactly \`{{ <token id> }}\` or
\`{{ <token id> | <filters> }}\` is replaced by the data of that token, or by what the filters
make of it. Under a rule that masks it is the masked data. A text that holds \`{{\` otherwise is
refused, and so is a token that the caller may not use.`.trim()

const tokenizeAll = (deps: Deps) =>
  operation({
    name: 'tokenize',
    method: 'POST',
    path: '/tokenize',
    summary: 'Create many tokens at once, in the shape of the body',
    description: tokenizeDescription,
    permission: 'token:create',
    query: bulkQuery,
    body: bodyLike(tokenizeExamples),
    success: { status: 200, schema: tokenizedSchema, examples: tokenizedExamples },
    failures: [400, 401, 403, 404, 409, 413, 415],
    run: (call, body) => tokenize(deps, call, body),
    replay: async (call, done, body) =>
      tokenizeAgain(deps, call, done as unknown as Past<KeptLeaves>, await body()),
    chargeRepeat: (caller, count) => spendRepeat(deps, caller, count),
  })

const detokenizeAll = (deps: Deps) =>
  operation({
    name: 'detokenize',
    method: 'POST',
    path: '/detokenize',
    summary: 'Replace references to tokens by their data',
    description: detokenizeDescription,
    permission: 'token:use',
    body: bodyLike(detokenizeExamples),
    success: { status: 200, schema: anyJson, examples: detokenizedExamples },
    failures: [400, 401, 403, 409, 413, 415],
    run: async ({ caller, countItems }, body) => ({
      status: 200,
      json: await detokenize(deps, caller, body, countItems),
    }),
  })

export const bulkRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, tokenizeAll(deps)))
    .route(...routeOf(pipeline, detokenizeAll(deps)))
