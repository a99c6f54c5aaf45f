/**
 * Explained access: to a manager about an application, and to a caller about itself.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
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

const idOf = async (key: string): Promise<string> =>
  String((await vault.ask('GET', '/applications/key', { key })).body['id'])

beforeAll(async () => {
  vault = await openTestVault(411)
  const all = ['token:create', 'token:read']
  const everything = [{ priority: 1, container: '/', transform: 'reveal', permissions: all }]
  owner = await vault.application({ type: 'private', rules: everything })
  desk = await vault.application({ type: 'private', rules })
  deskId = await idOf(desk)
  const make = (id: string, container: string, more: object = {}) =>
    vault.ask('POST', '/tokens', {
      key: owner,
      body: { id, type: 'token', data: 'planted', containers: [container], ...more },
    })
  await make('seen', '/pci/high/', { mask: '{{ data | slice: 0 }}***' })
  await make('blank', '/pci/high/')
  await make('redacted', '/pii/low/')
  await make('unseen', '/bank/')
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
    expect((await explainToken('blank')).body['mask_effect']).toBe('absent')
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
