/**
 * The documentation page and the OpenAPI document.
 *
 * The plugin writes the document on a private instance; its own page is never mounted, because it
 * loads script from another host, and a vault's origin runs none but its own. The assets of the
 * page are in the binary, and its content security policy allows nothing else.
 * @module
 */
import { swagger, type ElysiaSwaggerConfig } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import bundlePath from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' }
import stylePath from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' }
import type { Answers } from './answers.ts'
import type { Operation } from './endpoints.ts'
import type { Components } from './components.ts'
import { failureResponses } from './failures.ts'
import { answerHeaders, describeRoute, tags } from './openapi.ts'
import type { Route } from './route.ts'

type Documentation = NonNullable<ElysiaSwaggerConfig['documentation']>

const documentationOf = (basePath: string, components: Components) => ({
  // The plugin writes 3.0.3, of which our schemas are none; what else it writes is in both.
  openapi: '3.1.0',
  info: {
    title: 'Coffer',
    version: '1',
    description: 'A tokenization vault: tokens, applications and who may see what.',
    contact: { name: 'The maintainers of Coffer' },
    license: { name: 'All rights reserved', identifier: 'LicenseRef-Proprietary' },
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
  const components: Components = new Map()
  const operations = routes.map(route => ({ route, detail: describeRoute(route, components) }))
  // Its types are those of 3.0.3 too.
  const documentation = documentationOf(basePath, components) as Documentation
  const described = new Elysia().use(swagger({ path: '/page', specPath, documentation }))
  for (const { route, detail } of operations) {
    described.route(route.method, route.path, () => '', { detail })
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
