/**
 * Query strings, parsed from the raw URL: decoded once, `+` is a space, repeated names are kept.
 *
 * Never the framework's parser: it crashes on repeated names (elysia#929), reads `%2B` as a space
 * (elysia#943) and builds objects out of values (elysia#1848). Source: contract section 14.
 * @module
 */
import { TextMap, type ReadonlyTextMap } from '../text/map.ts'
import { ApiError, invalid } from '../errors.ts'
import { pageNumberMax, pageSizeDefault, pageSizeMax } from '../limits.ts'

/** Names to their values, in the order in which they came. */
export type QueryParameters = ReadonlyTextMap<readonly string[]>

const none: QueryParameters = new Map()

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new ApiError('invalid_request', 'query: expected valid percent-encoding of UTF-8')
  }
}

/** @throws ApiError `invalid_request` for a bad percent code */
export function parseQuery(url: string): QueryParameters {
  const start = url.indexOf('?')
  if (start < 0) return none
  const parameters = new TextMap<string[]>()
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    const values = parameters.get(name)
    if (values === undefined) parameters.set(name, [value])
    else values.push(value)
  }
  return parameters
}

function integerOf(query: QueryParameters, name: string, fallback: number, max: number): number {
  const text = query.get(name)?.[0]
  if (text === undefined) return fallback
  const value = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) {
    throw invalid(`query.${name}`, `expected an integer from 1 to ${max}`)
  }
  return value
}

export interface PageRequest {
  readonly page: number
  readonly size: number
}

/** `page` from 1, `size` 1 to 100 with default 20 (contract section 4). */
export const readPageRequest = (query: QueryParameters): PageRequest => ({
  page: integerOf(query, 'page', 1, pageNumberMax),
  size: integerOf(query, 'size', pageSizeDefault, pageSizeMax),
})

/** The text of a page: `items` are printed JSON texts. */
export function printPage(request: PageRequest, total: number, items: readonly string[]): string {
  const pagination = JSON.stringify({
    total_items: total,
    page_number: request.page,
    page_size: request.size,
    total_pages: Math.ceil(total / request.size),
  })
  return `{"pagination":${pagination},"data":[${items.join(',')}]}`
}

/** A page by its number, or a stretch of a walk by the cursor of the one before it. */
export type PartRequest =
  | PageRequest
  | {
      /** Empty for the first stretch. */
      readonly start: string
      /** Where the cursor stands in the request. */
      readonly at: string
      readonly size: number
    }

/** A `start`, also an empty one, asks for a walk; it has no pages (contract section 4). */
export function readPartRequest(query: QueryParameters): PartRequest {
  const start = query.get('start')?.[0]
  const { page, size } = readPageRequest(query)
  if (start === undefined) return { page, size }
  if (query.has('page')) throw invalid('query.page', 'expected either page or start')
  return { start, at: 'query.start', size }
}

/** The text of a stretch; without `next` it is the last one. */
export function printStretch(
  size: number,
  next: string | undefined,
  items: readonly string[],
): string {
  const pagination = JSON.stringify({ next, page_size: size })
  return `{"pagination":${pagination},"data":[${items.join(',')}]}`
}
