/**
 * Expected lists: naive filters over all tokens. Source: contract sections 4, 11 and 14.
 * @module
 */
import { admit, decide, failed, isRefused, type Caller, type Expected } from './access.ts'
import { matchingApplications, type ApplicationQuery } from './applications.ts'
import { liveTokens, type Model, type ModelToken, type Transform } from './state.ts'
import { fingerprintOf, viewToken } from './token-view.ts'

/** Members are texts, since a query may hold anything. */
export interface PageQuery {
  readonly page?: string
  readonly size?: string
}

interface Page {
  readonly page: number
  readonly size: number
}

/** A stretch of a walk: what comes after, by order, and the cursor that the answer has. */
interface Stretch {
  readonly below: number
  readonly size: number
  readonly next: unknown
}

/** `undefined` for what is a 400. */
export type Part = Page | Stretch | undefined

/** Entry of a list, in the order of creation. */
interface Shown {
  readonly order: number
  readonly json: unknown
}

const readNumber = (text: string | undefined, fallback: number, max: number) => {
  if (text === undefined) return fallback
  const number = /^[1-9][0-9]*$/.test(text) ? Number(text) : 0
  return number >= 1 && number <= max ? number : undefined
}

/** `undefined` for what is a 400. */
export function readPage({ page, size }: PageQuery): Page | undefined {
  const number = readNumber(page, 1, Number.MAX_SAFE_INTEGER)
  const count = readNumber(size, 20, 100)
  return number === undefined || count === undefined ? undefined : { page: number, size: count }
}

/** One page of all that matches. */
export const showPage = ({ page, size }: Page, all: readonly Shown[]) => ({
  pagination: {
    total_items: all.length,
    page_number: page,
    page_size: size,
    total_pages: Math.ceil(all.length / size),
  },
  data: all.slice((page - 1) * size, page * size).map(({ json }) => json),
})

/** Shows the newest tokens left in a walk; with a cursor only if there are more. */
export function showStretch({ below, size, next }: Stretch, all: readonly Shown[]) {
  const left = all.filter(({ order }) => order < below)
  const isLast = left.length <= size
  return {
    pagination: { next: isLast ? undefined : next, page_size: size },
    data: left.slice(0, size).map(({ json }) => json),
  }
}

export interface TokenQuery {
  readonly ids: readonly string[]
  readonly types: readonly string[]
  readonly containers: readonly string[]
  readonly fingerprints: readonly string[]
  /** No two names that differ by case only. */
  readonly metadata: readonly (readonly [string, string])[]
}

const equalFolded = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const isOneOf = (wanted: readonly string[], isMatch: (text: string) => boolean): boolean =>
  wanted.length === 0 || wanted.some(isMatch)

const matches = (model: Model, query: TokenQuery, token: ModelToken): boolean =>
  isOneOf(query.ids, id => id === token.id) &&
  isOneOf(query.types, type => type === token.type) &&
  isOneOf(query.containers, outer => token.container.startsWith(outer.toLowerCase())) &&
  isOneOf(query.fingerprints, text => text === fingerprintOf(model, token)) &&
  query.metadata.every(([name, value]) =>
    Object.entries(token.metadata).some(
      pair => equalFolded(pair[0], name) && equalFolded(pair[1], value),
    ),
  )

export interface Visible {
  readonly token: ModelToken
  readonly transform: Transform
}

/** Returns the tokens that the caller's rules cover for that permission, newest first. */
export const visibleTokens = (model: Model, caller: Caller, permission: string): Visible[] =>
  liveTokens(model).flatMap(token => {
    const transform = decide(caller, permission, token)
    return transform === undefined ? [] : [{ token, transform }]
  })

/** All that a list would show over all of its pages. */
export const matchingTokens = (model: Model, caller: Caller, query: TokenQuery) =>
  visibleTokens(model, caller, 'token:read')
    .filter(({ transform }) => query.fingerprints.length === 0 || transform !== 'redact')
    .filter(({ token }) => matches(model, query, token))
    .map(({ token, transform }) => ({
      order: token.order,
      json: viewToken(model, token, transform),
    }))

export function listTokens(
  model: Model,
  key: string | undefined,
  query: TokenQuery,
  part: Part,
): Expected {
  const caller = admit(model, key, 'token:read')
  if (isRefused(caller)) return caller
  if (part === undefined) return failed(400)
  const found = matchingTokens(model, caller, query)
  return { status: 200, json: 'page' in part ? showPage(part, found) : showStretch(part, found) }
}

export function listApplications(
  model: Model,
  key: string | undefined,
  query: ApplicationQuery & PageQuery,
): Expected {
  const caller = admit(model, key, 'application:read')
  if (isRefused(caller)) return caller
  const page = readPage(query)
  if (page === undefined) return failed(400)
  return { status: 200, json: showPage(page, matchingApplications(model, query)) }
}
