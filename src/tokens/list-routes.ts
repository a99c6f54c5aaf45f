/**
 * Listing and searching tokens. Source: spec, "List tokens"; contract sections 4 and 14.
 *
 * @module
 */
import { Elysia } from 'elysia'
import type { Deps } from '../deps.ts'
import { TextMap } from '../lib/maps.ts'
import { invalid } from '../lib/errors.ts'
import { operation, type OperationCall, type Reply } from '../http/operation.ts'
import { type Pipeline, hooks } from '../http/pipeline.ts'
import {
  printPage,
  printStretch,
  readPartRequest,
  type PartRequest,
  type QueryParameters,
} from '../http/request.ts'
import { pageSizeDefault } from '../limits/limits.ts'
import { searchExamples, tokenListExamples } from './token-examples.ts'
import { readTokenFilter } from './find/filters.ts'
import { listTokens, type FoundTokens } from './find/listing.ts'
import {
  listTokensQuery,
  searchTokensSchema,
  tokenListSchema,
  tokenWalkSchema,
  walkTokensQuery,
  type SearchTokensBody,
} from './schema.ts'
import { searchTokens } from './find/search.ts'

const replyOf = (request: PartRequest, listed: FoundTokens): Reply => ({
  status: 200,
  json:
    'page' in request && 'total' in listed
      ? printPage(request, listed.total, listed.items)
      : printStretch(request.size, 'next' in listed ? listed.next : undefined, listed.items),
})

/** On a walk-only address, a request without `start` means the first stretch. */
const asWalk = (query: QueryParameters): QueryParameters =>
  query.has('start') ? query : new TextMap([...query, ['start', ['']]])

async function list(deps: Deps, { caller }: OperationCall, query: QueryParameters): Promise<Reply> {
  const request = readPartRequest(query)
  return replyOf(request, await listTokens(deps, caller, readTokenFilter(query), request))
}

function readPart({ page, size, start }: SearchTokensBody): PartRequest {
  if (typeof start !== 'string') return { page: page ?? 1, size: size ?? pageSizeDefault }
  if (typeof page === 'number') throw invalid('page', 'expected either page or start')
  return { start, at: 'start', size: size ?? pageSizeDefault }
}

async function search(
  deps: Deps,
  { caller }: OperationCall,
  body: SearchTokensBody,
): Promise<Reply> {
  const request = readPart(body)
  return replyOf(request, await searchTokens(deps, caller, body.query, request))
}

const searchDescription = `
\`*\` alone finds all tokens. Any other query has clauses \`field:value\`, joined by \`AND\`,
\`OR\`, \`NOT\` (or \`!\`, \`-\`) and parentheses; \`NOT\` binds most, \`OR\` least. A value
with blanks or special characters stands in double quotes.

Fields: \`id\`, \`type\`, \`fingerprint\`, \`created_by\`, \`modified_by\`; \`data\`, which matches
the values of the search indexes whatever their case; \`metadata.<key>\`, whatever the case;
\`container\`, exact or a beginning as \`/pci/*\`; \`created_at\` and \`modified_at\`, an instant,
a day in UTC, or a range: \`[A TO B]\` with its ends, \`{A TO B}\` without them, \`*\` for an open
one.`.trim()

const searchBody = {
  contentType: 'application/json',
  schema: searchTokensSchema,
  examples: searchExamples,
  opaque: new Set<string>(),
} as const

const listed = {
  permission: 'token:read',
  summary: 'List tokens, newest first',
  readsPages: true,
  failures: [400, 401, 403],
} as const

const listPages = () =>
  operation({
    ...listed,
    name: 'listTokens',
    query: listTokensQuery,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
  })

const searched = {
  permission: 'token:search',
  summary: 'Search tokens, newest first',
  readsPages: true,
  description: searchDescription,
  failures: [400, 401, 403, 413, 415],
} as const

const searchPages = () =>
  operation({
    ...searched,
    name: 'searchTokens',
    body: searchBody,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
  })

const walk = {
  status: 200,
  schema: tokenWalkSchema,
  examples: { walk: tokenListExamples.walk },
} as const

const listWalk = () =>
  operation({
    ...listed,
    name: 'listTokensByCursor',
    summary: `${listed.summary}, as a walk`,
    query: walkTokensQuery,
    success: walk,
  })

const searchWalk = () =>
  operation({
    ...searched,
    name: 'searchTokensByCursor',
    summary: `${searched.summary}, as a walk`,
    body: { ...searchBody, examples: { walk: searchExamples.walk } },
    success: walk,
  })

/**
 * Each list as pages and as a walk. decision: published clients of this family request walks at
 * addresses of their own.
 */
export const listRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .use(hooks(pipeline))
    .get('/tokens', ({ perform }) => perform(call => list(deps, call, call.query)), listPages())
    .post(
      '/tokens/search',
      ({ body, perform }) => perform(call => search(deps, call, body)),
      searchPages(),
    )
    .get(
      '/v2/tokens',
      ({ perform }) => perform(call => list(deps, call, asWalk(call.query))),
      listWalk(),
    )
    .post(
      '/v2/tokens/search',
      ({ body, perform }) =>
        perform(call => search(deps, call, { ...body, start: body.start ?? '' })),
      searchWalk(),
    )
