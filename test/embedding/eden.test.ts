/**
 * The typed client of the framework, over HTTP and in process: it takes and gives the types of the
 * routes. A line below `@ts-expect-error` fails the type check if it compiles.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { treaty } from '@elysiajs/eden'
import { buildApp } from '../../src/server/listen/app.ts'
import { coffer, type Coffer } from '../../src/coffer.ts'
import { openTestVault } from '../support/vault.ts'

type Client = ReturnType<typeof treaty<Coffer>>

const vault = await openTestVault(1)
const permissions = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete']
const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
const key = await vault.application({ type: 'private', permissions, rules })
const headers = { 'svc-api-key': key }

let server: ReturnType<typeof Bun.serve>
beforeAll(() => {
  server = Bun.serve({ ...buildApp(vault.deps).listener, hostname: '127.0.0.1', port: 0 })
})
afterAll(() => server.stop(true))

const clients: readonly (readonly [string, () => Client])[] = [
  ['in process', () => treaty(coffer(vault.deps))],
  ['over HTTP', () => treaty<Coffer>(server.url.origin)],
]

describe.each(clients)('%s', (_, open) => {
  test('creates, reads, lists, searches, updates and deletes a token', async () => {
    const client = open()
    const made = await client.tokens.post(
      { type: 'card', data: { number: '4242424242424242' }, metadata: { shop: '7' } },
      { headers },
    )
    const id: string = made.data?.id ?? ''
    expect(made.status).toBe(201)
    const got = await client.tokens({ id }).get({ headers })
    expect(got.data?.data).toEqual({ number: '4242424242424242' })
    const listed = await client.tokens.get({ headers, query: { type: ['card'] } })
    expect(listed.data?.data.some(token => token.id === id)).toBe(true)
    const found = await client.tokens.search.post({ query: 'metadata.shop:7' }, { headers })
    expect(found.data?.data.some(token => token.id === id)).toBe(true)
    const changed = await client
      .tokens({ id })
      .patch(
        { metadata: { shop: '8' } },
        { headers: { ...headers, 'content-type': 'application/merge-patch+json' } },
      )
    expect(changed.data?.metadata).toEqual({ shop: '8' })
    expect((await client.tokens({ id }).delete(undefined, { headers })).status).toBe(204)
    expect((await client.tokens({ id }).get({ headers })).status).toBe(404)
  })

  test('a refusal is an error with its status, and no data', async () => {
    const { data, error, status } = await open().tokens({ id: 'a' }).get({ headers: {} })
    expect({ data, status }).toEqual({ data: null, status: 401 })
    expect(error?.status as number).toBe(401)
  })
})

/** Never called: the compiler checks it. */
export async function wrong(client: Client): Promise<void> {
  // @ts-expect-error a token has a type
  await client.tokens.post({ data: 1 }, { headers })
  // @ts-expect-error an id is a text
  await client.tokens.post({ type: 'token', data: 1, id: 7 }, { headers })
  // @ts-expect-error no such operation
  await client.tokens({ id: 'a' }).put({}, { headers })
  const { data } = await client.tokens({ id: 'a' }).get({ headers })
  // @ts-expect-error tokens have no such member
  void data?.nothing
}
