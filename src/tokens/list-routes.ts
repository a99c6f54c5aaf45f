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
import type { Pipeline } from '../http/pipeline.ts'
import { printPage, printStretch, readPartRequest, type PartRequest } from '../http/paging.ts'
import type { QueryParameters } from '../http/request.ts'
import { routeOf } from '../http/routes.ts'
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
  const asked = body.transform ?? undefined
  return replyOf(request, await searchTokens(deps, caller, { query: body.query, asked }, request))
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
  method: 'GET',
  permission: 'token:read',
  summary: 'List tokens, newest first',
  readsPages: true,
  failures: [400, 401, 403],
} as const

const listPages = (deps: Deps) =>
  operation({
    ...listed,
    name: 'listTokens',
    path: '/tokens',
    query: listTokensQuery,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
    run: call => list(deps, call, call.query),
  })

const searched = {
  method: 'POST',
  permission: 'token:search',
  summary: 'Search tokens, newest first',
  readsPages: true,
  description: searchDescription,
  failures: [400, 401, 403, 413, 415],
} as const

const searchPages = (deps: Deps) =>
  operation({
    ...searched,
    name: 'searchTokens',
    path: '/tokens/search',
    body: searchBody,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
    run: (call, body) => search(deps, call, body),
  })

const walk = {
  status: 200,
  schema: tokenWalkSchema,
  examples: { walk: tokenListExamples.walk },
} as const

const listWalk = (deps: Deps) =>
  operation({
    ...listed,
    name: 'listTokensByCursor',
    path: '/v2/tokens',
    summary: `${listed.summary}, as a walk`,
    query: walkTokensQuery,
    success: walk,
    run: call => list(deps, call, asWalk(call.query)),
  })

const searchWalk = (deps: Deps) =>
  operation({
    ...searched,
    name: 'searchTokensByCursor',
    path: '/v2/tokens/search',
    summary: `${searched.summary}, as a walk`,
    body: { ...searchBody, examples: { walk: searchExamples.walk } },
    success: walk,
    run: (call, body) => search(deps, call, { ...body, start: body.start ?? '' }),
  })

/**
 * Each list as pages and as a walk. decision: published clients request walks at addresses of
 * their own.
 */
export const listRoutes = (deps: Deps, pipeline: Pipeline) =>
  new Elysia()
    .route(...routeOf(pipeline, listPages(deps)))
    .route(...routeOf(pipeline, searchPages(deps)))
    .route(...routeOf(pipeline, listWalk(deps)))
    .route(...routeOf(pipeline, searchWalk(deps)))
