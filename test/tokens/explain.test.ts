/**
 * Explained access: to a manager about an application, and to a caller about itself.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { makePipeline, routesOf } from '../../src/coffer.ts'
import { tokenOperations } from '../../src/tokens/access/token-operations.ts'
import { openSessionKit } from '../support/sessions.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

let vault: TestVault
let owner: string
let desk: string
let deskId: string

const rules = [
  { priority: 10, container: '/pci/', transform: 'reveal', permissions: ['token:use'] },
  { priority: 20, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
  { priority: 30, container: '/pii/low/', transform: 'redact', permissions: ['token:read'] },
]

const nobody = { session_id: '00000000-0000-4000-8000-000000000000' }

const idOf = async (key: string): Promise<string> =>
  String((await vault.ask('GET', '/applications/key', { key })).body['id'])

beforeAll(async () => {
  vault = await openTestVault(411)
  const all = ['token:create', 'token:read']
  const everything = [{ priority: 1, container: '/', transform: 'reveal', permissions: all }]
  owner = await vault.application({ type: 'private', rules: everything })
  desk = await vault.application({ type: 'private', rules })
  deskId = await idOf(desk)
  for (const id of Object.keys(planted)) await makeAgain(id)
})

const mask = '{{ data | slice: 0 }}***'
const planted: Readonly<Record<string, object>> = {
  seen: { containers: ['/pci/high/'], mask },
  blank: { containers: ['/pci/high/'] },
  redacted: { containers: ['/pii/low/'] },
  unseen: { containers: ['/bank/'] },
}

/** Makes one of them, unless it is there. */
const makeAgain = (id: string) =>
  vault.ask('POST', '/tokens', {
    key: owner,
    body: { id, type: 'token', data: 'planted', ...planted[id] },
  })

const explain = (body: object, key = vault.managementKey) =>
  vault.ask('POST', '/access/explain', { key, body: { application_id: deskId, ...body } })

const explainToken = (tokenId: string, permission = 'token:read') =>
  explain({ permission, token_id: tokenId })

describe('a manager', () => {
  // proves C11.20
  test('is told which rule decides, why others do not, and nothing of the token', async () => {
    const { status, body, text } = await explainToken('seen')
    expect([status, body['decision'], body['status']]).toEqual([200, 'mask', 200])
    expect(body).toMatchObject({ decided_by: 'rule 1', mask_effect: 'shows' })
    expect(body['text']).toBe(
      'Masked: rule 1 (priority 20, container /pci/) decides; rule 0 lacks token:read.',
    )
    const steps = body['steps'] as readonly object[]
    expect(steps).toHaveLength(4)
    expect(steps[2]).toEqual({
      rule: 'rule 2',
      priority: 30,
      container: '/pii/low/',
      transform: 'redact',
      holds_permission: true,
      covers: false,
      decides: false,
    })
    expect(text).not.toContain('planted')
    expect(text).not.toContain('***')
  })

  // proves C11.20
  test.each([
    ['seen', 'token:read', 'mask', 200],
    ['blank', 'token:read', 'mask', 200],
    ['redacted', 'token:read', 'redact', 200],
    ['unseen', 'token:read', 'hidden', 404],
    ['seen', 'token:delete', 'forbidden', 403],
  ])('of %s by %s is told what the application gets', async (id, permission, decision, status) => {
    const { body } = await explainToken(id, permission)
    expect([body['decision'], body['status']]).toEqual([decision, status])
    const method = permission === 'token:delete' ? 'DELETE' : 'GET'
    const real = await vault.ask(method, `/tokens/${id}`, { key: desk })
    expect(real.status).toBe(status)
  })

  test('is told that a token without a mask shows nothing', async () => {
    const { body } = await explainToken('blank')
    expect(body['mask_effect']).toBe('absent')
    expect(body['text']).toEndWith('; it has no mask, so nothing of it is shown.')
  })

  test('may ask about a place where no token is', async () => {
    const { body } = await explain({ permission: 'token:use', place: { containers: ['/PCI/x/'] } })
    expect(body).toMatchObject({ decision: 'reveal', decided_by: 'rule 0' })
    expect(body).not.toHaveProperty('mask_effect')
  })

  test.each([
    ['neither', { permission: 'token:read' }, 'token_id'],
    [
      'both',
      { permission: 'token:read', token_id: 'seen', place: { containers: ['/pci/'] } },
      'token_id',
    ],
    [
      'no container',
      { permission: 'token:read', place: { containers: ['pci'] } },
      'place.containers[0]',
    ],
    ['another permission', { permission: 'application:read', token_id: 'seen' }, 'permission'],
    ['no permission', { token_id: 'seen' }, 'permission'],
    [
      'two questions',
      { permission: 'token:read', operation: 'getToken', token_id: 'seen' },
      'permission',
    ],
    ['another operation', { operation: 'createApplication', token_id: 'seen' }, 'operation'],
    ['a session too', { ...nobody, permission: 'token:read', token_id: 'seen' }, 'application_id'],
    [
      'nobody',
      { application_id: null, permission: 'token:read', token_id: 'seen' },
      'application_id',
    ],
  ])('is refused with %s', async (_, asked, at) => {
    const { status, body } = await explain(asked)
    expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, [at]])
  })

  test('gets 404 for an absent token and for an absent application', async () => {
    expect((await explainToken('absent')).status).toBe(404)
    const other = { application_id: '00000000-0000-4000-8000-000000000000' }
    const asked = { ...other, permission: 'token:read', token_id: 'seen' }
    expect((await explain(asked)).status).toBe(404)
  })

  test.each([['access:explain'], ['application:read']])('needs more than %s', async held => {
    const key = await vault.application({ type: 'management', permissions: [held] })
    const asked = { permission: 'token:read', token_id: 'seen' }
    expect((await explain(asked, key)).status).toBe(403)
    const both = ['access:explain', 'application:read']
    const able = await vault.application({ type: 'management', permissions: both })
    expect((await explain(asked, able)).status).toBe(200)
  })

  // proves C11.21
  test('leaves an entry that names the application, the token and the rule', async () => {
    await explainToken('redacted')
    await vault.deps.audit.flush()
    const { body } = await vault.ask('GET', '/logs?operation=explainAccess&size=1', {
      key: vault.managementKey,
    })
    const [entry] = body['data'] as readonly object[]
    expect(entry).toMatchObject({
      entity_type: 'access',
      entity_ids: [deskId, 'redacted'],
      rule: 'rule 2',
      result: 200,
    })
    expect(entry).not.toHaveProperty('transform')
  })

  test('who looks up too many absent tokens has to wait', async () => {
    const few = await openTestVault(412, { lookupGuessesPerMinuteMax: 2 })
    const key = few.managementKey
    const made = await few.application({ type: 'private', permissions: ['token:read'] })
    const own = await few.ask('GET', '/applications/key', { key: made })
    const body = { application_id: own.body['id'], permission: 'token:read', token_id: 'none' }
    const statuses: number[] = []
    for (let asked = 0; asked < 3; asked += 1) {
      statuses.push((await few.ask('POST', '/access/explain', { key, body })).status)
    }
    expect(statuses).toEqual([404, 404, 429])
  })
})

/** Requests of each operation that concern one token. */
const requests: Readonly<
  Record<string, (id: string) => readonly [method: string, path: string, body?: object]>
> = {
  getToken: id => ['GET', `/tokens/${id}`],
  updateToken: id => ['PATCH', `/tokens/${id}`, {}],
  listTokens: id => ['GET', `/tokens?id=${id}`],
  listTokensByCursor: id => ['GET', `/v2/tokens?id=${id}`],
  listContainers: () => ['GET', '/containers'],
  searchTokens: id => ['POST', '/tokens/search', { query: `id:${id}` }],
  searchTokensByCursor: id => ['POST', '/v2/tokens/search', { query: `id:${id}` }],
  detokenize: id => ['POST', '/detokenize', { at: `{{ ${id} }}` }],
  deleteToken: id => ['DELETE', `/tokens/${id}`],
}

describe('an operation', () => {
  const all = ['token:search', 'token:update', 'token:delete']
  const wide = [
    { priority: 1, container: '/pii/', transform: 'redact', permissions: ['token:use', ...all] },
    { priority: 2, container: '/pci/', transform: 'mask', permissions: ['token:use', ...all] },
    { priority: 3, container: '/', transform: 'reveal', permissions: ['token:create'] },
    { priority: 4, container: '/pci/', transform: 'mask', permissions: ['token:read'] },
  ]

  test('has the permission that its route asks for', () => {
    const pipeline = makePipeline(vault.deps)
    routesOf(vault.deps, pipeline)
    const onTokens = [...pipeline.operations.values()].flatMap(({ name, permission, success }) =>
      permission?.startsWith('token:') === true ? [[name, permission, success.status]] : [],
    )
    const told = Object.entries(tokenOperations).map(([name, { permission, shown }]) => [
      name,
      permission,
      shown,
    ])
    expect(told.toSorted()).toEqual(onTokens.toSorted())
  })

  // proves C11.20
  test.each(Object.entries(requests))('%s is answered as it is foreseen', async (name, request) => {
    const key = await vault.application({ type: 'private', rules: wide })
    const application_id = await idOf(key)
    const narrow = await vault.application({ type: 'private', permissions: ['token:create'] })
    for (const id of ['seen', 'blank', 'redacted', 'unseen']) {
      for (const [asker, of] of [
        [key, application_id],
        [narrow, await idOf(narrow)],
      ] as const) {
        const asked = { application_id: of, operation: name, token_id: id }
        const { body, text } = await explain(asked)
        const [method, path, sent] = request(id)
        const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
        const real = await vault.ask(method, path, {
          key: asker,
          ...(sent && { body: sent, headers: { 'content-type': type } }),
        })
        expect([name, id, real.status, text]).toEqual([name, id, Number(body['status']), text])
        await makeAgain(id)
      }
    }
  })

  test('in a place is foreseen as a create there is answered', async () => {
    const statuses = { status: 0, real: 0 }
    for (const container of ['/pci/', '/bank/']) {
      const place = { containers: [container] }
      const rule = { ...wide[2], container: '/pci/' }
      const key = await vault.application({ type: 'private', rules: [rule] })
      const asked = { application_id: await idOf(key), operation: 'createToken', place }
      statuses.status += Number((await explain(asked)).body['status'])
      const body = { type: 'token', data: 1, containers: [container] }
      statuses.real += (await vault.ask('POST', '/tokens', { key, body })).status
    }
    expect(statuses).toEqual({ status: 201 + 403, real: 201 + 403 })
  })
})

describe('a session', () => {
  const ruled = {
    rules: [
      {
        priority: 1,
        conditions: [
          { attribute: 'id', operator: 'starts_with', value: 'see' },
          { attribute: 'container', operator: 'starts_with', value: '/pci' },
        ],
        transform: 'mask',
        permissions: ['token:read'],
      },
    ],
  }
  const openSession = async (
    grants: object,
  ): Promise<readonly [id: string, key: string, creatorId: string]> => {
    const kit = await openSessionKit(vault)
    const key = await kit.open(grants)
    const { body } = await vault.ask('GET', '/sessions?size=1', { key: vault.managementKey })
    return [String((body['data'] as readonly { id: string }[])[0]?.id), key, kit.creator.id]
  }
  const ask = (session_id: string, token_id: string, key = vault.managementKey) =>
    explain({ application_id: null, session_id, permission: 'token:read', token_id }, key)

  test.each(['seen', 'unseen'])('is explained by its own conditions: %s', async token => {
    const [id, key] = await openSession(ruled)
    const { body, text } = await ask(id, token)
    const real = await vault.ask('GET', `/tokens/${token}`, { key })
    expect(body['status']).toBe(real.status)
    const isSeen = token === 'seen'
    const [step] = body['steps'] as readonly object[]
    expect(step).toMatchObject({
      covers: isSeen,
      conditions: [{ holds: isSeen }, { holds: isSeen }],
    })
    expect(text).not.toContain('"see"')
  })

  test('that has ended, also with its creator, or of another tenant is 404', async () => {
    const [id] = await openSession(ruled)
    expect((await ask(nobody.session_id, 'seen')).status).toBe(404)
    const strange = await openTestVault(414)
    expect(
      (
        await strange.ask('POST', '/access/explain', {
          key: strange.managementKey,
          body: { session_id: id, permission: 'token:read', place: { containers: ['/'] } },
        })
      ).status,
    ).toBe(404)
    await vault.ask('DELETE', `/sessions/${id}`, { key: vault.managementKey })
    expect((await ask(id, 'seen')).status).toBe(404)
    const [other, , creatorId] = await openSession(ruled)
    expect((await ask(other, 'seen')).status).toBe(200)
    await vault.ask('DELETE', `/applications/${creatorId}`, { key: vault.managementKey })
    expect((await ask(other, 'seen')).status).toBe(404)
  })

  test('needs session:read too', async () => {
    const [id] = await openSession(ruled)
    const held = ['access:explain', 'application:read']
    const key = await vault.application({ type: 'management', permissions: held })
    expect((await ask(id, 'seen', key)).status).toBe(403)
    const able = await vault.application({
      type: 'management',
      permissions: [...held, 'session:read'],
    })
    expect((await ask(id, 'seen', able)).status).toBe(200)
  })
})

describe('a caller that reads a token', () => {
  const read = (id: string, query: string) =>
    vault.ask('GET', `/tokens/${id}${query}`, { key: desk })

  // proves C11.22
  test('is told which of its rules decided', async () => {
    const { body } = await read('seen', '?explain=true')
    expect(body['data']).toBe('p***')
    const { access } = body['_extras'] as { readonly access: object }
    expect(access).toMatchObject({
      decision: 'mask',
      decided_by: 'rule 1',
      permission: 'token:read',
    })
    expect(access).not.toHaveProperty('mask_effect')
  })

  test('is told nothing unless it asks', async () => {
    const plain = await read('seen', '')
    expect((await read('seen', '?explain=false')).body).toEqual(plain.body)
    expect(plain.body).not.toHaveProperty('_extras')
  })

  // proves C11.22
  test('gets the answer for an absent token where it may not see one', async () => {
    const answers = [await read('unseen', '?explain=true'), await read('absent', '?explain=true')]
    const told = answers.map(({ status, body }) => ({
      status,
      ...body,
      instance: '',
      trace_id: '',
    }))
    expect(new Set(told.map(each => JSON.stringify(each))).size).toBe(1)
    expect(told[0]?.status).toBe(404)
  })

  test.each(['?explain=yes', '?explain=true&explain=true', '?explain='])(
    'is refused with %s',
    async query => {
      expect((await read('seen', query)).status).toBe(400)
    },
  )
})
