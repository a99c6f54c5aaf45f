/**
 * Floor (a): a bare route that answers any token with one fixed text. `elysia.ts <file>`
 *
 * The file has the text and the headers of an answer of the vault.
 * @module
 */
import { readFileSync } from 'node:fs'
import { Elysia } from 'elysia'

const { body, headers } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as {
  readonly body: string
  readonly headers: Record<string, string>
}

const app = new Elysia()
  .get('/tokens/:id', () => new Response(body, { headers }))
  .listen({ hostname: '127.0.0.1', port: 0, reusePort: false })

console.info(`listens on http://127.0.0.1:${app.server?.port}`)
