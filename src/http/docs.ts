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
import { describeRoute } from './openapi.ts'
import type { Route } from './route.ts'

const documentation = {
  info: {
    title: 'Coffer',
    version: '1',
    description: 'A tokenization vault: tokens, applications and who may see what.',
  },
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' } },
  },
} as const

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coffer</title>
<link rel="stylesheet" href="/swagger/ui.css">
</head>
<body>
<div id="ui"></div>
<script src="/swagger/ui.js"></script>
<script src="/swagger/start.js"></script>
</body>
</html>
`

const startScript = `SwaggerUIBundle({ url: '/swagger/json', dom_id: '#ui', validatorUrl: null })\n`

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

async function writeDocument(routes: readonly Route[]): Promise<string> {
  const specPath = '/json'
  const described = new Elysia().use(swagger({ path: '/page', specPath, documentation }))
  for (const route of routes) {
    described.route(route.method, route.path, () => '', { detail: describeRoute(route) })
  }
  const response = await described.handle(new Request(`http://localhost${specPath}`))
  return response.text()
}

/** `GET /swagger` and what its page loads, all from this origin. */
export function docsPlugin(routes: readonly Route[]) {
  let document: Promise<string> | undefined
  return new Elysia()
    .get('/swagger', () => asset(page, 'text/html'))
    .get('/swagger/start.js', () => asset(startScript, 'text/javascript'))
    .get('/swagger/ui.js', () => asset(Bun.file(bundlePath), 'text/javascript'))
    .get('/swagger/ui.css', () => asset(Bun.file(stylePath), 'text/css'))
    .get('/swagger/json', async () => {
      document ??= writeDocument(routes)
      return asset(await document, 'application/json')
    })
}
