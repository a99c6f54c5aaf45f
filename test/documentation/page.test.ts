/**
 * The documentation page and the OpenAPI document.
 * @module
 */
import { beforeAll, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault } from '../support/vault.ts'

let get: (path: string) => Promise<Response>
beforeAll(async () => {
  const app = buildApp((await openTestVault()).deps)
  get = async path => app.handle(new Request(`http://localhost${path}`))
})

test('the document describes every operation with its success and its failures', async () => {
  const response = await get('/swagger/json')
  const document = (await response.json()) as {
    openapi: string
    paths: Record<string, Record<string, { responses: Record<string, unknown> }>>
  }
  expect(document.openapi).toMatch(/^3\./)
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.toSorted()).toEqual([
    'DELETE /applications/{id}',
    'DELETE /applications/{id}/keys/{keyId}',
    'DELETE /sessions/{id}',
    'DELETE /tokens/{id}',
    'DELETE /webhooks/{id}',
    'GET /applications',
    'GET /applications/key',
    'GET /applications/{id}',
    'GET /applications/{id}/keys',
    'GET /applications/{id}/keys/{keyId}',
    'GET /containers',
    'GET /events',
    'GET /logs',
    'GET /logs/checkpoint',
    'GET /logs/entity-types',
    'GET /logs/{id}/proof',
    'GET /permissions',
    'GET /sessions',
    'GET /status',
    'GET /status/history',
    'GET /status/settings',
    'GET /tenants/self',
    'GET /tokens',
    'GET /tokens/{id}',
    'GET /v2/tokens',
    'GET /webhooks',
    'GET /webhooks/event-types',
    'GET /webhooks/public-key',
    'GET /webhooks/{id}',
    'GET /webhooks/{id}/deliveries',
    'PATCH /tokens/{id}',
    'POST /access/explain',
    'POST /access/simulate',
    'POST /applications',
    'POST /applications/{id}/keys',
    'POST /applications/{id}/regenerate',
    'POST /detokenize',
    'POST /expressions/preview',
    'POST /sessions',
    'POST /sessions/authorize',
    'POST /tokenize',
    'POST /tokens',
    'POST /tokens/search',
    'POST /v2/tokens/search',
    'POST /webhooks',
    'POST /webhooks/{id}/deliveries/{sequence}/retry',
    'POST /webhooks/{id}/replay',
    'POST /webhooks/{id}/rotate',
    'POST /webhooks/{id}/test',
    'PUT /applications/{id}',
    'PUT /tenants/self',
    'PUT /webhooks/{id}',
  ])
  const created = document.paths['/tokens']?.['post']?.responses ?? {}
  const statuses = ['201', '400', '401', '403', '404', '409', '413', '415', 'default']
  expect(Object.keys(created)).toEqual(statuses)
})

// proves S78
test('the page loads from this origin alone, and may load nothing else', async () => {
  const page = await get('/swagger')
  const text = await page.text()
  expect(text).not.toMatch(/https?:|\/\//)
  const [drawn, ...loaded] = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(
    ([, path]) => path ?? '',
  )
  expect(drawn).toStartWith('data:image/svg+xml,%3Csvg')
  expect(loaded).toEqual([
    'swagger/ui.css',
    'swagger/page.css',
    'swagger/ui.js',
    'swagger/start.js',
  ])
  for (const path of loaded.slice(1)) expect((await get(`/${path}`)).status).toBe(200)
  expect(await (await get('/swagger/')).text()).toContain('src="./start.js"')
  const policy = page.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/http|\*|unsafe/)
  expect((await get('/page')).status).toBe(404)
})
