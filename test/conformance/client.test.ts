/**
 * A published client of this interface family, unchanged, against a listening server: its own
 * parsing of answers, pages and problems is the check. The prefix of its headers is a setting.
 * @module
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BasisTheory, BasisTheoryClient } from '@basis-theory/node-sdk'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let server: ReturnType<typeof Bun.serve>
let management: BasisTheoryClient
let backend: BasisTheoryClient

const clientOf = (apiKey: string) =>
  new BasisTheoryClient({ apiKey, baseUrl: server.url.href, maxRetries: 0 })

/** The client has promises of its own kind, whose errors are caught by hand. */
async function thrownBy(answer: PromiseLike<unknown>): Promise<unknown> {
  try {
    await answer
    return undefined
  } catch (thrown) {
    return thrown
  }
}

const permissions = ['create', 'read', 'update', 'delete', 'search', 'use'].map(
  each => `token:${each}`,
)
const card = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030 }

beforeAll(async () => {
  vault = await openTestVault(31, { headerPrefix: ['bt'] })
  const app = buildApp(vault.deps)
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, ...app.listener })
  management = clientOf(vault.managementKey)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const made = await management.applications.create({ name: 'backend', type: 'private', rules })
  backend = clientOf(made.key ?? '')
})

afterAll(async () => {
  await server.stop(true)
})

describe('tokens', () => {
  // proves A1.9, P1
  test('are created, read, changed and deleted', async () => {
    const made = await backend.tokens.create({
      type: 'card',
      data: card,
      metadata: { order: '17' },
      expiresAt: '1/1/2031',
    })
    expect(made).toMatchObject({
      type: 'card',
      data: { number: 'XXXXXXXXXXXX4242' },
      metadata: { order: '17' },
      containers: ['/pci/high/'],
      expiresAt: new Date('2031-01-01T00:00:00Z'),
    })
    const id = made.id ?? ''
    expect((await backend.tokens.get(id)).data).toEqual(card)
    const changed = await backend.tokens.update(id, { metadata: { order: '18' } })
    expect(changed.metadata).toEqual({ order: '18' })
    expect(changed.modifiedAt).toBeDefined()
    await backend.tokens.delete(id)
    expect(await thrownBy(backend.tokens.get(id))).toBeInstanceOf(BasisTheory.NotFoundError)
  })

  // proves P2
  test('are refused with problems that the client understands', async () => {
    const refusal = backend.tokens.create({ type: 'card', data: { number: '4242424242424241' } })
    const error = await thrownBy(refusal)
    expect(error).toBeInstanceOf(BasisTheory.BadRequestError)
    const { body } = error as { body: BasisTheory.ValidationProblemDetails }
    expect(Object.keys(body.errors ?? {})).toEqual(['data.number'])
    const nobody = clientOf('key_nobody').tokens.get('some-id')
    expect(await thrownBy(nobody)).toBeInstanceOf(BasisTheory.UnauthorizedError)
    expect(await thrownBy(management.tokens.get('some-id'))).toBeInstanceOf(
      BasisTheory.ForbiddenError,
    )
    await backend.tokens.create({ id: 'twice', type: 'token', data: 1 })
    const again = backend.tokens.create({ id: 'twice', type: 'token', data: 2 })
    expect(await thrownBy(again)).toBeInstanceOf(BasisTheory.ConflictError)
  })

  // proves A1.9, P3, P34
  test('are listed and searched page by page, each exactly once', async () => {
    const ids = Array.from({ length: 25 }, (_, index) => `listed-${index}`)
    for (const id of ids) {
      await backend.tokens.create({ id, type: 'token', data: id, metadata: { Kind: 'listed' } })
    }
    const listed: string[] = []
    for await (const token of await backend.tokens.listV2({
      metadata: { kind: 'LISTED' },
      size: 10,
    })) {
      listed.push(token.id ?? '')
    }
    expect(listed).toEqual(ids.toReversed())
    const found: string[] = []
    for await (const token of await backend.tokens.searchV2({
      query: 'metadata.kind:listed',
      size: 7,
    })) {
      found.push(token.id ?? '')
    }
    expect(found).toEqual(ids.toReversed())
    const none = await backend.tokens.searchV2({ query: 'metadata.kind:absent' })
    expect(none.data).toEqual([])
  })

  // proves P4
  test('are made and resolved in bulk', async () => {
    const made = (await backend.tokens.tokenize({
      first: { type: 'token', data: 'one' },
      second: 'two',
    })) as Record<string, unknown>
    expect(Object.keys(made)).toEqual(['first', 'second'])
    expect(JSON.stringify(made)).not.toContain('two')
    const { id } = made['first'] as { id: string }
    expect(await backend.tokens.detokenize({ is: `{{ ${id} }}` })).toEqual({ is: 'one' })
  })

  // proves P5
  test('are the same one when deduplicated', async () => {
    const make = () =>
      backend.tokens.create({ type: 'token', data: 'same', deduplicateToken: true })
    const [first, second] = [await make(), await make()]
    expect(second.id).toBe(first.id ?? '')
    expect(second.extras?.deduplicated).toBe(true)
  })

  // proves P5
  test('are created once under an idempotency key', async () => {
    const make = () =>
      backend.tokens.create({ type: 'token', data: 'idempotent' }, { idempotencyKey: 'client-1' })
    expect((await make()).id).toBe((await make()).id ?? '')
  })
})

describe('applications', () => {
  // proves A1.10, P6
  test('are created, listed, read, changed and deleted', async () => {
    const made = await management.applications.create({
      name: 'reader',
      type: 'private',
      permissions: ['token:read'],
    })
    const id = made.id ?? ''
    expect((await management.applications.get(id)).key).toBeUndefined()
    const own = await clientOf(made.key ?? '').applications.getByKey()
    expect(own.id).toBe(id)
    const listed: string[] = []
    for await (const application of await management.applications.list({ size: 1 })) {
      listed.push(application.id ?? '')
    }
    expect(listed).toContain(id)
    expect(new Set(listed).size).toBe(listed.length)
    const changed = await management.applications.update(id, {
      name: 'renamed',
      permissions: ['token:read'],
    })
    expect(changed.name).toBe('renamed')
    await management.applications.delete(id)
    expect(await thrownBy(management.applications.get(id))).toBeInstanceOf(
      BasisTheory.NotFoundError,
    )
  })

  // proves C15.8, P6
  test('have several keys, of which each is read and revoked', async () => {
    const made = await management.applications.create({
      name: 'rotated',
      type: 'private',
      permissions: ['token:read'],
    })
    const id = made.id ?? ''
    const second = await management.applicationKeys.create(id)
    expect(second.createdAt).toBeInstanceOf(Date)
    expect((await clientOf(second.key ?? '').applications.getByKey()).id).toBe(id)
    const listed = await management.applicationKeys.list(id)
    expect(listed.map(({ version, key }) => [version, key])).toEqual([
      ['2', undefined],
      ['1', undefined],
    ])
    const only = await management.applicationKeys.list(id, { id: second.id ?? '' })
    expect(only.map(each => each.id)).toEqual([second.id])
    const [, first] = listed
    expect((await management.applicationKeys.get(id, first?.id ?? '')).version).toBe('1')
    await management.applicationKeys.delete(id, first?.id ?? '')
    const old = clientOf(made.key ?? '').applications.getByKey()
    expect(await thrownBy(old)).toBeInstanceOf(BasisTheory.UnauthorizedError)
    expect((await clientOf(second.key ?? '').applications.getByKey()).id).toBe(id)
    const gone = management.applicationKeys.get(id, first?.id ?? '')
    expect(await thrownBy(gone)).toBeInstanceOf(BasisTheory.NotFoundError)
  })

  // proves P7
  test('of any tenant learn of its permissions', async () => {
    const known = await management.permissions.list()
    expect(known.map(({ type }) => type)).toContain('token:create')
    const some = await management.permissions.list({ applicationType: 'public' })
    expect(some.map(({ type }) => type)).toEqual(['token:create', 'token:update'])
    const tenant = await management.tenants.self.get()
    expect([tenant.id, typeof tenant.ownerId]).toEqual([vault.tenantId, 'string'])
    const renamed = await management.tenants.self.update({ name: 'Shop' })
    expect(renamed).toMatchObject({ id: vault.tenantId, name: 'Shop', ownerId: tenant.ownerId })
  })
})

describe('a session', () => {
  // proves P8
  test('reads what its authorizer allowed, and nothing before', async () => {
    const rules = [
      { priority: 1, container: '/', transform: 'mask', permissions: ['token:create'] },
    ]
    const made = await management.applications.create({ name: 'browser', type: 'public', rules })
    const session = await clientOf(made.key ?? '').sessions.create()
    const visitor = clientOf(session.sessionKey ?? '')
    await backend.tokens.create({ id: 'seen', type: 'token', data: 'shown' })
    await backend.tokens.create({ id: 'unseen', type: 'token', data: 'hidden' })
    expect(await thrownBy(visitor.tokens.get('seen'))).toBeInstanceOf(BasisTheory.ForbiddenError)
    await backend.sessions.authorize({
      nonce: session.nonce ?? '',
      rules: [
        {
          description: 'one token',
          priority: 1,
          transform: 'reveal',
          permissions: ['token:read'],
          conditions: [{ attribute: 'id', operator: 'equals', value: 'seen' }],
        },
      ],
    })
    expect((await visitor.tokens.get('seen')).data).toBe('shown')
    expect(await thrownBy(visitor.tokens.get('unseen'))).toBeInstanceOf(BasisTheory.NotFoundError)
  })
})

// proves C17.7
test('the audit log is walked by pages, with its members as the client knows them', async () => {
  const token = await backend.tokens.create({ type: 'token', data: 'x' })
  for (let reads = 0; reads < 4; reads += 1) await backend.tokens.get(token.id ?? '')
  await vault.deps.audit.flush()
  const entityId = token.id ?? ''
  const startDate = new Date(vault.deps.now() - 1)
  const endDate = new Date(vault.deps.now() + 1)
  const asked = { entityType: 'token', entityId, startDate, endDate, size: 2 }
  const logs: BasisTheory.Log[] = []
  for await (const each of await management.logs.list(asked)) logs.push(each)
  expect(logs.map(({ operation }) => operation)).toEqual([
    ...Array.from({ length: 4 }, () => 'getToken'),
    'createToken',
  ])
  const own = await backend.applications.getByKey()
  expect(logs[0]).toMatchObject({
    tenantId: vault.tenantId,
    actorId: own.id,
    actorType: 'private',
    entityType: 'token',
    entityId,
    operation: 'getToken',
    message: 'getToken was answered with 200.',
    createdAt: new Date(vault.deps.now()),
  })
  expect(await management.logs.getEntityTypes()).toContainEqual({
    displayName: 'Token',
    value: 'token',
  })
})

// proves C18.1
test('a webhook is made, listed, changed and deleted', async () => {
  const asked = { name: 'Orders', url: 'https://hooks.example/a', events: ['token.created'] }
  const made = await management.webhooks.create(asked)
  expect(made).toMatchObject({ ...asked, status: 'enabled', tenantId: vault.tenantId })
  const id = made.id ?? ''
  expect(await management.webhooks.get(id)).toMatchObject(asked)
  expect((await management.webhooks.list()).data).toMatchObject([{ id, ...asked }])
  const changed = { ...asked, name: 'Others', events: ['token.read'] }
  expect(await management.webhooks.update(id, changed)).toMatchObject(changed)
  expect(await management.webhooks.events.list()).toContain('token.created')
  await management.webhooks.delete(id)
  expect(await thrownBy(management.webhooks.get(id))).toBeInstanceOf(BasisTheory.NotFoundError)
})

// proves P38
test('an operation that the vault has not is told as 404', async () => {
  const calls = [
    management.proxies.list(),
    management.reactors.list(),
    management.networkTokens.create({ tokenId: 'some-id' }),
    backend.tokenIntents.create({ type: 'card', data: card }),
    backend.googlePay.get('some-id'),
    backend.documents.get('some-id'),
  ]
  // All at once: one that is refused before it is waited for would fail another test.
  for (const thrown of await Promise.all(calls.map(thrownBy))) {
    expect((thrown as BasisTheory.NotFoundError).statusCode).toBe(404)
    expect((thrown as Error).message).toContain('There is nothing at this address.')
  }
})
