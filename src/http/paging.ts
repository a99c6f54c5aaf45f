/**
 * Pages of a list: read from the query, and printed as the body of the answer.
 * @module
 */
import { invalid } from '../lib/errors.ts'
import { pageNumberMax, pageSizeDefault, pageSizeMax } from '../limits/limits.ts'
import type { QueryParameters } from './request.ts'

function integerOf(query: QueryParameters, name: string, fallback: number, max: number): number {
  const text = query.get(name)?.[0]
  if (text === undefined) return fallback
  const value = /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : 0
  if (value < 1 || value > max) {
    throw invalid(`query.${name}`, `expected an integer from 1 to ${max}`)
  }
  return value
}

interface PageRequest {
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
      /** The place of the cursor in the request, for errors. */
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
