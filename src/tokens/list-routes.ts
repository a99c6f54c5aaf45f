/**
 * Listing and searching tokens as data. Source: spec, "List tokens"; contract sections 4 and 14.
 *
 * @module
 */
import type { Deps } from '../deps.ts'
import { TextMap } from '../domain/text-map.ts'
import { invalid } from '../errors.ts'
import { printPage, printStretch, readPartRequest, type PartRequest } from '../http/query.ts'
import type { Call, Reply, Route } from '../http/route.ts'
import { pageSizeDefault } from '../limits.ts'
import { searchExamples, tokenListExamples } from './examples.ts'
import { readTokenFilter } from './filters.ts'
import { listTokens } from './list.ts'
import type { Listed } from './listing.ts'
import {
  listTokensQuery,
  searchTokensSchema,
  tokenListSchema,
  tokenWalkSchema,
  walkTokensQuery,
  type SearchTokensBody,
} from './model.ts'
import { searchTokens } from './search.ts'

const replyOf = (request: PartRequest, listed: Listed): Reply => ({
  status: 200,
  json:
    'page' in request && 'total' in listed
      ? printPage(request, listed.total, listed.items)
      : printStretch(request.size, 'next' in listed ? listed.next : undefined, listed.items),
})

/** A member that is null counts as absent (contract section 1). */
const withoutNulls = (body: unknown) =>
  Object.fromEntries(Object.entries(body ?? {}).filter(([, value]) => value !== null))

/** A call of an address that knows walks alone: without `start` it is the first stretch. */
const asWalk = (call: Call): Call => ({
  ...call,
  query: call.query.has('start') ? call.query : new TextMap([...call.query, ['start', ['']]]),
  body: { start: '', ...withoutNulls(call.body) },
})

async function list(deps: Deps, { caller, query }: Call): Promise<Reply> {
  const request = readPartRequest(query)
  return replyOf(request, await listTokens(deps, caller, readTokenFilter(query), request))
}

function readPart({ page, size, start }: SearchTokensBody): PartRequest {
  if (typeof start !== 'string') return { page: page ?? 1, size: size ?? pageSizeDefault }
  if (typeof page === 'number') throw invalid('page', 'expected either page or start')
  return { start, at: 'start', size: size ?? pageSizeDefault }
}

async function search(deps: Deps, { caller, body }: Call): Promise<Reply> {
  const asked = body as SearchTokensBody
  const request = readPart(asked)
  return replyOf(request, await searchTokens(deps, caller, asked.query ?? '', request))
}

const searchDescription = `
A query has clauses \`field:value\`, joined by \`AND\`, \`OR\`, \`NOT\` (or \`!\`, \`-\`) and
parentheses; \`NOT\` binds most, \`OR\` least. A value with blanks or special characters stands in
double quotes.

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

const walkBody = { ...searchBody, examples: { walk: searchExamples.walk } }

const pageRoutes = (deps: Deps): readonly Route[] => [
  {
    name: 'listTokens',
    method: 'GET',
    path: '/tokens',
    summary: 'List tokens, newest first',
    permission: 'token:read',
    query: listTokensQuery,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
    failures: [400, 401, 403],
    handle: call => list(deps, call),
  },
  {
    name: 'searchTokens',
    method: 'POST',
    path: '/tokens/search',
    summary: 'Search tokens, newest first',
    description: searchDescription,
    permission: 'token:search',
    body: searchBody,
    success: { status: 200, schema: tokenListSchema, examples: tokenListExamples },
    failures: [400, 401, 403, 413, 415],
    handle: call => search(deps, call),
  },
]

/** decision: published clients of this family ask for walks at addresses of their own. */
const walkRoutes = (deps: Deps): readonly Route[] =>
  pageRoutes(deps).map(route => ({
    ...route,
    name: `${route.name}ByCursor`,
    path: `/v2${route.path}`,
    summary: `${route.summary}, as a walk`,
    ...(route.query === undefined ? { body: walkBody } : { query: walkTokensQuery }),
    success: {
      status: 200,
      schema: tokenWalkSchema,
      examples: { walk: tokenListExamples.walk },
    },
    handle: call => route.handle(asWalk(call)),
  }))

/** Each as pages and as a walk. */
export const listRoutes = (deps: Deps): readonly Route[] => [
  ...pageRoutes(deps),
  ...walkRoutes(deps),
]
