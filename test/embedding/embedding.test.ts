/**
 * The vault inside an application of the framework: its answers, the effects of a host's own hooks,
 * and requests that end early, which hold nothing.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { applicationUnique } from '../../src/applications/application-record.ts'
import { coffer, makePipeline, routesOf } from '../../src/coffer.ts'
import { openVault } from '../../src/embed.ts'
import { parseErasure } from '../../src/rules/erasures.ts'
import { runCoffer } from '../support/coffer-process.ts'
import { openConnection } from '../support/connection.ts'
import { temporaryFolder } from '../support/folders.ts'
import { until } from '../support/until.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:search']
let vault: TestVault
let key: string
beforeAll(async () => {
  vault = await openTestVault(1)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', permissions, rules })
})

type Handler = { readonly handle: (request: Request) => Promise<Response> }

const ask = (app: Handler, method: string, path: string, asked: Ask = {}) =>
  app.handle(requestOf(method, path, { key, ...asked }))

const create = { body: { type: 'token', data: 'a value' } }

/** Every way to have it below `/vault`. */
const hosts: readonly (readonly [string, () => Handler])[] = [
  ['a plugin with a prefix', () => new Elysia({ prefix: '/vault' }).use(coffer(vault.deps))],
  [
    'a plugin in a host',
    () => new Elysia().use(new Elysia({ prefix: '/vault' }).use(coffer(vault.deps))),
  ],
  ['a group', () => new Elysia().group('/vault', app => app.use(coffer(vault.deps)))],
]

describe.each(hosts)('%s', (_, open) => {
  test('stores and reads, and says where a token is', async () => {
    const app = open()
    const made = await ask(app, 'POST', '/vault/tokens', create)
    const { id } = (await made.json()) as { id: string }
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(`/vault/tokens/${id}`)
    const got = await ask(app, 'GET', `/vault/tokens/${id}/`)
    expect(got.status).toBe(200)
    expect(await got.json()).toMatchObject({ id, data: 'a value' })
  })

  test('refuses as a vault by itself does', async () => {
    const app = open()
    const statusOf = async (method: string, path: string, asked: Ask = {}) =>
      (await ask(app, method, path, asked)).status
    expect(await statusOf('GET', '/vault/tokens/a', { key: 'key_nobody' })).toBe(401)
    expect(await statusOf('GET', '/vault/tokens/a')).toBe(404)
    expect(await statusOf('GET', '/tokens/a')).toBe(404)
    expect(await statusOf('PUT', '/vault/tokens/a')).toBe(405)
    expect(await statusOf('POST', '/vault/tokens', { raw: '{"type": "card", "data": 4242' })).toBe(
      400,
    )
  })

  test('the address that is asked for is the one of its document', async () => {
    const answer = await ask(open(), 'GET', '/vault/swagger/json')
    const document = (await answer.json()) as { servers: readonly { url: string }[] }
    expect(answer.status).toBe(200)
    expect(document.servers.map(({ url }) => url)).toEqual(['/vault'])
  })
})

describe('an application of a host', () => {
  test('a card number is not in the answer to a wrong body', async () => {
    const app = new Elysia().use(coffer(vault.deps)).onError(({ error }) => String(error))
    const raw = '{"type": 4242424242424242, "data": {"number": "4242424242424242"}}'
    const answer = await ask(app, 'POST', '/tokens', { raw })
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain('4242')
  })

  test('its own errors and routes are its own', async () => {
    const app = new Elysia()
      .onError(({ code }) => `the host says ${code}`)
      .use(coffer(vault.deps))
      .get('/own', () => 'own')
      .get('/broken', () => {
        throw new Error('broken')
      })
    expect(await (await app.handle(new Request('http://localhost/own'))).text()).toBe('own')
    expect(await (await app.handle(new Request('http://localhost/broken'))).text()).toContain(
      'UNKNOWN',
    )
    expect(await (await app.handle(new Request('http://localhost/nowhere'))).text()).toContain(
      'NOT_FOUND',
    )
    expect((await ask(app, 'GET', '/tokens/absent')).headers.get('content-type')).toContain(
      'application/problem+json',
    )
  })

  test('takes no body from a parser of the host, which must come after it', async () => {
    const read = ({ request }: { readonly request: Request }) => request.text()
    const before = new Elysia().onParse({ as: 'global' }, read).use(coffer(vault.deps))
    expect((await ask(before, 'POST', '/tokens', create)).status).toBe(400)
    const after = new Elysia().use(coffer(vault.deps)).onParse({ as: 'global' }, read)
    expect((await ask(after, 'POST', '/tokens', create)).status).toBe(201)
  })

  const places = [{ hostname: '127.0.0.1', port: 0 }, { unix: join(temporaryFolder(), 'socket') }]
  test.each(places)(
    'listening at %j, gives nothing at an address that it has changed',
    async at => {
      const made = await ask(coffer(vault.deps), 'POST', '/tokens', create)
      const { id } = (await made.json()) as { id: string }
      const app = new Elysia({ prefix: '/vault' }).use(coffer(vault.deps)).listen(at)
      const port = app.server?.port ?? 0
      const client = await openConnection(
        'unix' in at ? { unix: at.unix } : { hostname: '127.0.0.1', port },
      )
      const statusOf = async (path: string) => (await client.ask('GET', path, { key })).status
      expect(await statusOf(`/vault/tokens/${id}`)).toBe(200)
      for (const path of ['x/../', '%2e%2e/tokens/', '../http', 'x/%2e%2e/']) {
        expect(await statusOf(`/vault/tokens/${path}${id}`)).toBe(404)
      }
      client.close()
      await app.stop(true)
    },
  )

  test('listening, answers what browsers ask first, and 405', async () => {
    const app = new Elysia({ prefix: '/vault' })
      .use(coffer(vault.deps))
      .listen({ hostname: '127.0.0.1', port: 0 })
    const asked = async (method: string, path: string, headers = {}) =>
      fetch(`${app.server?.url.origin}${path}`, { method, headers })
    const preflight = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
    const first = await asked('OPTIONS', '/vault/tokens', preflight)
    expect(first.status).toBe(204)
    expect(first.headers.get('access-control-allow-methods')).toContain('POST')
    expect((await asked('OPTIONS', '/vault/tokens')).headers.get('allow')).toContain('GET')
    for (const method of ['PUT', 'DELETE']) {
      expect((await asked(method, '/vault/tokens')).status).toBe(405)
    }
    expect((await asked('HEAD', '/vault/tokens')).status).toBe(401)
    await app.stop(true)
  })

  test('a session is made again under the same idempotency key, below a prefix too', async () => {
    const app = new Elysia({ prefix: '/vault' }).use(coffer(vault.deps))
    const own = await vault.application({ type: 'public', permissions: ['token:create'] })
    const headers = { 'svc-idempotency-key': 'same' }
    for (let count = 0; count < 2; count += 1) {
      const answer = await ask(app, 'POST', '/vault/sessions', { key: own, headers })
      expect(answer.status).toBe(201)
    }
  })

  test('a name of its own in the context is not taken for a refusal', async () => {
    const pipeline = makePipeline(vault.deps)
    const app = new Elysia()
      .decorate('refusal', new Response('of the host'))
      .use(routesOf(vault.deps, pipeline))
    expect((await ask(app, 'POST', '/tokens', create)).status).toBe(201)
    await pipeline.inFlight.end()
  })

  test('long answers that nobody reads give back what they took', async () => {
    const app = new Elysia().use(coffer(vault.deps))
    const data = 'x'.repeat(480_000)
    const made = await ask(app, 'POST', '/tokens', { body: { type: 'token', data } })
    const { id } = (await made.json()) as { id: string }
    const statuses: number[] = []
    for (let count = 0; count < 100; count += 1) {
      statuses.push((await ask(app, 'GET', `/tokens/${id}`)).status)
      if (count % 20 !== 19) continue
      Bun.gc(true)
      await Bun.sleep(20)
    }
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  test('listening, answers requests of its own process as well', async () => {
    const app = new Elysia({ prefix: '/vault' })
      .use(coffer(vault.deps))
      .listen({ hostname: '127.0.0.1', port: 0 })
    expect((await ask(app, 'POST', '/vault/tokens', create)).status).toBe(201)
    await app.stop(true)
  })

  test('mounted, none of its hooks sees what passes', async () => {
    const seen: unknown[] = []
    const app = new Elysia()
      .onAfterHandle({ as: 'global' }, ({ responseValue }) => {
        seen.push(responseValue)
      })
      .mount('/vault', coffer(vault.deps).handle)
    const made = await ask(app, 'POST', '/vault/tokens', create)
    expect(made.status).toBe(201)
    expect(await made.json()).toMatchObject({ type: 'token' })
    expect(seen.map(value => value instanceof Response && value.bodyUsed)).not.toContain(false)
  })

  const early = () => new Response('not now', { status: 418 })
  const hosts = {
    before: (app: Elysia) => app.onBeforeHandle({ as: 'global' }, early),
    guard: (app: Elysia) => app.guard({ beforeHandle: early }),
  }
  test.each(Object.entries(hosts))('holds nothing of what its hook %s ends', async (_, hook) => {
    const pipeline = makePipeline(vault.deps)
    const plugin = routesOf(vault.deps, pipeline)
    const app = hook(new Elysia() as Elysia).use(plugin) as unknown as Handler
    expect((await ask(app, 'POST', '/tokens', create)).status).toBe(418)
    expect((await ask(app, 'GET', '/tokens/absent')).status).toBe(418)
    await pipeline.inFlight.end()
  })

  test('a hook that comes after the vault does not end its requests', async () => {
    const pipeline = makePipeline(vault.deps)
    const app = new Elysia()
      .use(routesOf(vault.deps, pipeline))
      .onBeforeHandle({ as: 'global' }, early)
    expect((await ask(app, 'POST', '/tokens', create)).status).toBe(201)
    await pipeline.inFlight.end()
  })
})

test('an opened folder lists deletes where it is told to, and closed has no keys', async () => {
  const root = temporaryFolder()
  const [data, erasureLog] = [join(root, 'vault'), join(root, 'erasures')]
  await runCoffer(['init', '--data', data])
  const made = await runCoffer(['app', 'create', '--data', data, '--name', 'deletes', '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const { deps, close } = await openVault({ data, erasureLog, log: () => {} })
  const app = coffer(deps)
  const rights = ['token:create', 'token:delete']
  const body = { name: 'owner', type: 'private', permissions: rights }
  const owner = await ask(app, 'POST', '/applications', { key: managementKey, body })
  const own = { key: ((await owner.json()) as { key: string }).key }
  const token = await ask(app, 'POST', '/tokens', { ...own, ...create })
  const { id } = (await token.json()) as { id: string }
  expect((await ask(app, 'DELETE', `/tokens/${id}`, own)).status).toBe(204)
  expect(parseErasure(readFileSync(erasureLog, 'utf8'))).toMatchObject({ id })
  expect(deps.keys.logKey).toBeDefined()
  await close()
  expect(deps.keys.logKey).toBeUndefined()
})

test('an opened folder is swept until it is closed', async () => {
  const data = join(temporaryFolder(), 'vault')
  const made = await runCoffer(['init', '--data', data, '--json'])
  const { key: managementKey } = JSON.parse(made.stdout) as { key: string }
  const { deps, close } = await openVault({ data, log: () => {}, onFailure: () => {} })
  const app = coffer(deps)
  /** @returns its unique; nothing if its end passed before it was made */
  const makeEnding = async (inMs: number): Promise<Uint8Array | undefined> => {
    const expires_at = new Date(Date.now() + inMs).toISOString()
    const body = { name: 'gone soon', type: 'private', permissions: ['token:read'], expires_at }
    const answer = await ask(app, 'POST', '/applications', { key: managementKey, body })
    const { id, tenant_id } = (await answer.json()) as { id: string; tenant_id: string }
    return answer.status === 201 ? applicationUnique(deps.keys, tenant_id, id) : undefined
  }
  const kept = (await makeEnding(3_600_000)) ?? new Uint8Array()
  let gone: Uint8Array | undefined
  for (let inMs = 1_000; gone === undefined; inMs *= 2) gone = await makeEnding(inMs)
  const ending = gone
  // A clock that has just started destroys nothing for a while.
  await until(async () => (await deps.store.find(ending)) === undefined)
  expect(await deps.store.find(kept)).toBeDefined()
  await close()
}, 300_000)
