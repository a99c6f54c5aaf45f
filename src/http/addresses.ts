/**
 * Answers of every address to methods that it does not have: 204 with `Allow` or the headers of a
 * preflight (OPTIONS), 405 to all others. Source: contract section 2.
 * @module
 */
import { Elysia } from 'elysia'
import { ApiError } from '../lib/errors.ts'
import { answer, assertReachable, beginExchange, type Pipeline } from './pipeline.ts'
import { pathOf, withoutTrailingSlash } from './request.ts'
import { hidden, type Asked } from './routes.ts'

interface Registered {
  readonly method: string
  readonly path: string
}

const methodNames = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

function allowOf(routes: readonly Registered[], paths: readonly string[]): string {
  const own = routes.filter(({ path }) => paths.includes(path)).map(({ method }) => method)
  const allowed = new Set([...own, 'OPTIONS', ...(own.includes('GET') ? ['HEAD'] : [])])
  return methodNames.filter(name => allowed.has(name)).join(', ')
}

/** A token may have the id `search`: what that address itself does not have, the token's has. */
const tokenPath = '/tokens/:id'
const searchPath = '/tokens/search'

const isSearch = ({ url }: Request): boolean =>
  withoutTrailingSlash(pathOf(url)).endsWith(searchPath)

const answerOther = (
  pipeline: Pipeline,
  { request, route }: Asked,
  allow: string,
): Promise<Response> =>
  answer(pipeline, beginExchange(pipeline, request, route), x => {
    const { answers } = pipeline
    assertReachable(pipeline, x)
    if (request.method === 'OPTIONS') return answers.options(x, allow)
    const error = new ApiError('method_not_allowed', `expected one of the methods ${allow}`)
    return answers.problem(x, error, allow)
  })

/** @param routes with their paths below every prefix */
export function otherMethods(pipeline: Pipeline, routes: readonly Registered[]) {
  const plugin = new Elysia()
  const allowAtSearch = allowOf(routes, [tokenPath, searchPath])
  for (const path of new Set(routes.map(route => route.path))) {
    if (path === searchPath) continue
    const allowHere = allowOf(routes, [path])
    const allowAt = (request: Request) =>
      path === tokenPath && isSearch(request) ? allowAtSearch : allowHere
    const other = ({ request, route }: Asked) =>
      answerOther(pipeline, { request, route }, allowAt(request))
    plugin.all(path, other, hidden())
    // A host that listens hands its router no route for all methods.
    for (const method of methodNames) {
      if (!allowHere.includes(method) || method === 'OPTIONS') {
        plugin.route(method, path, other, hidden())
      }
    }
  }
  return plugin
}
