/**
 * The documentation page and the OpenAPI document.
 *
 * The plugin writes the document on a private instance; its own page is never mounted, because it
 * loads script from another host, and a vault's origin runs none but its own. The assets of the
 * page are in the binary, and its content security policy allows nothing else.
 * @module
 */
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Answers } from './answers.ts'
import type { Operation } from './endpoints.ts'
import { describeRoute } from './openapi.ts'
import type { Route } from './route.ts'

const documentationAt = (basePath: string) => ({
  info: {
    title: 'Coffer',
    version: '1',
    description: 'A tokenization vault: tokens, applications and who may see what.',
  },
  ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
  components: {
    securitySchemes: { key: { type: 'apiKey' as const, in: 'header', name: 'SVC-API-KEY' } },
  },
})

const pageAt = (basePath: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coffer</title>
<link rel="stylesheet" href="${basePath}/swagger/ui.css">
</head>
<body>
<div id="ui"></div>
<script src="${basePath}/swagger/ui.js"></script>
<script src="${basePath}/swagger/start.js"></script>
</body>
</html>
`

const startScriptAt = (basePath: string) => `SwaggerUIBundle({
  url: '${basePath}/swagger/json',
  dom_id: '#ui',
  validatorUrl: null,
})
`

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

const asset = (body: string | Blob, type: string) =>
  new Response(body, {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
    },
  })

async function writeDocument(routes: readonly Route[], basePath: string): Promise<string> {
  const specPath = '/json'
  const documentation = documentationAt(basePath)
  const described = new Elysia().use(swagger({ path: '/page', specPath, documentation }))
  for (const route of routes) {
    described.route(route.method, route.path, () => '', { detail: describeRoute(route) })
  }
  const response = await described.handle(new Request(`http://localhost${specPath}`))
  return response.text()
}

/** `GET /swagger` and what its page loads, all from this origin. */
export function docsOperations(
  answers: Answers,
  routes: readonly Route[],
  basePath: string,
): readonly Operation[] {
  let document: Promise<string> | undefined
  const page = (path: string, type: string, read: () => string | Blob | Promise<string>) =>
    ({
      method: 'GET',
      path: `/swagger${path}`,
      answer: async exchange => answers.page(exchange, asset(await read(), type)),
    }) satisfies Operation
  return [
    page('', 'text/html', () => pageAt(basePath)),
    page('/start.js', 'text/javascript', () => startScriptAt(basePath)),
    page('/ui.js', 'text/javascript', () => Bun.file(bundlePath)),
    page('/ui.css', 'text/css', () => Bun.file(stylePath)),
    page('/json', 'application/json', () => (document ??= writeDocument(routes, basePath))),
  ]
}
