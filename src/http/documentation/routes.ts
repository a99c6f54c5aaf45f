/**
 * The documentation page and the OpenAPI document.
 *
 * The framework's plugin writes the document from the routes; its own page is never mounted,
 * because it loads script from another host, and a vault's origin runs none but its own. The assets
 * of the page are in the binary, and its content security policy allows nothing else.
 * @module
 */
import { readFileSync } from 'node:fs'
import { toOpenAPISchema } from '@elysiajs/openapi/openapi'
import { Type } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import { type Components, failureResponses } from './failures.ts'
import { answerHeaders, describeOperation, tags } from './openapi.ts'
import pageStyle from './reference-page.css' with { type: 'text' }
import { pageFrom, policy, startScript } from './reference-page.ts'
import { lookVariables } from '../../lib/look.ts'
import { pathOf, withoutTrailingSlash } from '../request.ts'
import type { Pipeline } from '../pipeline.ts'
import { hidden, page } from '../routes.ts'

const documentationOf = (basePath: string, components: Components) => ({
  openapi: '3.1.0',
  info: {
    title: 'Coffer',
    version: '1',
    description: 'A tokenization vault: tokens, applications and who may see what.',
    contact: { name: 'The maintainers of Coffer' },
    license: { name: 'All rights reserved' },
  },
  servers: [{ url: basePath === '' ? '/' : basePath }],
  tags,
  components: {
    securitySchemes: {
      key: {
        type: 'apiKey',
        in: 'header',
        name: 'SVC-API-KEY',
        description: 'The key of an application (`key_…`) or of a session (`key_sess_…`).',
      },
    },
    responses: failureResponses(answerHeaders, components),
    schemas: Object.fromEntries(components),
  },
})

const headersOf = (type: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
})

/** Keys are typed into it, so that no browser may keep it. */
const pageHeaders = {
  ...headersOf('text/html'),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'origin-agent-cluster': '?1',
}

/** The bytes of a file of the program, read when they are first asked for. */
function readOnce(path: string, wrap = (read: Buffer): Uint8Array => read): () => Uint8Array {
  let bytes: Uint8Array | undefined
  return () => (bytes ??= wrap(readFileSync(path)))
}

/** Every rule that is in no layer goes before those in one. */
const inLayer = (css: Buffer): Uint8Array => Buffer.from(`@layer viewer {${css.toString()}}`)

type Routes = AnyElysia['routes']

/** Whatever the framework would check by itself stands in the description of the operation. */
const checkedElsewhere = Type.Object({})

function writeDocument({ operations }: Pipeline, routes: Routes, basePath: string): string {
  const components: Components = new Map()
  const described = routes.flatMap(route => {
    const operation = operations.get(String(route.hooks.detail?.operationId))
    if (operation === undefined) return []
    const detail = describeOperation({ ...operation, path: route.path }, components)
    return [{ ...route, hooks: { detail, params: checkedElsewhere } }]
  })
  const app = { getGlobalRoutes: () => described, getGlobalDefinitions: () => ({ type: {} }) }
  const { paths } = toOpenAPISchema(app as unknown as AnyElysia)
  return JSON.stringify({ ...documentationOf(basePath, components), paths })
}

/** The path before `/swagger`: the prefix of a host, or the base path. */
const basePathOf = ({ url }: Request): string => {
  const path = pathOf(url)
  return path.slice(0, path.lastIndexOf('/swagger'))
}

/** A mounted application does not know its prefix, so links are relative to the page. */
const folderOf = ({ url }: Request): string => (pathOf(url).endsWith('/') ? '.' : 'swagger')

/**
 * `GET /`, for a person who looks what listens there: where the page and the document are, from the
 * base path on. A server of its own has it; the address of a host is the host's.
 */
export function entrance(pipeline: Pipeline) {
  const headers = headersOf('application/json')
  const places = ({ url }: Request) => {
    const base = withoutTrailingSlash(pathOf(url)).replace(/^\/$/, '')
    const shown = { name: 'Coffer', page: `${base}/swagger`, document: `${base}/swagger/json` }
    return { headers, bytes: Buffer.from(JSON.stringify(shown)) }
  }
  return new Elysia().get('/', page(pipeline, places), hidden())
}

/**
 * `GET /swagger` and what its page loads, all from this origin.
 * @param routes the operations, with their paths below every prefix
 */
export function documentation(pipeline: Pipeline, routes: Routes) {
  const documents = new Map<string, Uint8Array>()
  const documentAt = (basePath: string): Uint8Array => {
    const known = documents.get(basePath)
    const written = known ?? Buffer.from(writeDocument(pipeline, routes, basePath))
    documents.clear()
    documents.set(basePath, written)
    return written
  }
  const part = (type: string, read: (request: Request) => string | Uint8Array) =>
    page(pipeline, request => {
      const text = read(request)
      const bytes = typeof text === 'string' ? Buffer.from(text) : text
      return { headers: headersOf(type), bytes }
    })
  const document = (request: Request) => ({
    headers: pageHeaders,
    bytes: Buffer.from(pageFrom(folderOf(request))),
  })
  return new Elysia()
    .get('/swagger', page(pipeline, document), hidden())
    .get(
      '/swagger/start.js',
      part('text/javascript', () => startScript),
      hidden(),
    )
    .get(
      '/swagger/page.css',
      part('text/css', () => lookVariables + pageStyle),
      hidden(),
    )
    .get('/swagger/ui.js', part('text/javascript', readOnce(bundlePath)), hidden())
    .get('/swagger/ui.css', part('text/css', readOnce(stylePath, inLayer)), hidden())
    .get(
      '/swagger/json',
      part('application/json', request => documentAt(basePathOf(request))),
      hidden(),
    )
}
