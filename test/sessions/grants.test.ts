/**
 * Rules of sessions, and grants that are bound to the authorizer. Source: contract sections 11 and
 * 12.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import {
  addApplication,
  openSessionKit,
  tokenPermissions,
  type SessionKit,
} from '../support/sessions.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const cardToken = (id: string, container: string) => ({
  id,
  type: 'token',
  data: 'secret-value',
  mask: '{{ data | last4 }}',
  containers: [container],
})

const places: readonly (readonly [string, string])[] = [
  ['order-1', '/pci/high/'],
  ['order-2', '/pci-dev/'],
  ['Order-3', '/pci/high/'],
  ['other-4', '/bank/'],
]

interface Shown {
  readonly status: number
  readonly data: unknown
}

describe('a session with rules on conditions', () => {
  let vault: TestVault
  let kit: SessionKit
  beforeAll(async () => {
    vault = await openTestVault(71)
    kit = await openSessionKit(vault)
    for (const [id, container] of places) {
      const body = cardToken(id, container)
      await vault.ask('POST', '/tokens', { key: kit.authorizer.key, body })
    }
  })

  const ruleOn = (transform: string, ...conditions: readonly (readonly string[])[]) => ({
    priority: 1,
    conditions: conditions.map(([attribute, operator, value]) => ({ attribute, operator, value })),
    transform,
    permissions: tokenPermissions,
  })

  const show = async (key: string, id: string): Promise<Shown> => {
    const { status, body, text } = await vault.ask('GET', `/tokens/${id}`, { key })
    if (status !== 200) expect(text).not.toContain('secret')
    return { status, data: body['data'] }
  }

  // proves A7.5, A7.7, A7.13, C11.13
  test.each([
    ['an id', [['id', 'equals', 'order-1']], ['order-1']],
    ['the beginning of ids, by case', [['id', 'starts_with', 'order-']], ['order-1', 'order-2']],
    [
      'a container, written in any case',
      [['container', 'equals', '/PCI/High/']],
      ['order-1', 'Order-3'],
    ],
    ['a container without those below it', [['container', 'equals', '/pci/']], []],
    [
      'the beginning of a segment',
      [['container', 'starts_with', '/Pci']],
      ['order-1', 'order-2', 'Order-3'],
    ],
    ['whole segments', [['container', 'starts_with', '/pci/']], ['order-1', 'Order-3']],
    [
      'both at once',
      [
        ['id', 'starts_with', 'order'],
        ['container', 'starts_with', '/pci/'],
      ],
      ['order-1'],
    ],
  ])('reads by %s', async (_, conditions, seen) => {
    const key = await kit.open({ rules: [ruleOn('reveal', ...conditions)] })
    for (const [id] of places) {
      const expected = seen.includes(id)
        ? { status: 200, data: 'secret-value' }
        : { status: 404, data: undefined }
      expect(await show(key, id)).toEqual(expected)
    }
  })

  // proves A2.4, A7.8, A7.9, A7.11
  test.each([
    ['redact', undefined],
    ['mask', 'alue'],
    ['reveal', 'secret-value'],
  ])('shows data by the transform %s', async (transform, data) => {
    const key = await kit.open({ rules: [ruleOn(transform, ['id', 'equals', 'order-1'])] })
    expect(await show(key, 'order-1')).toEqual({ status: 200, data })
  })

  // proves A7.2, C11.7
  test('decides by priority, the plain permissions last', async () => {
    const hidden = ruleOn('redact', ['id', 'equals', 'order-1'])
    const open = { ...ruleOn('reveal', ['container', 'starts_with', '/pci']), priority: 2 }
    const key = await kit.open({ rules: [open, hidden], permissions: ['token:read'] })
    const shown = await Promise.all(places.map(([id]) => show(key, id)))
    expect(shown.map(({ data }) => data)).toEqual([
      undefined,
      'secret-value',
      'secret-value',
      'alue',
    ])
  })

  test('creates where a rule covers the id and the container, and nowhere else', async () => {
    const rule = ruleOn('reveal', ['id', 'starts_with', 'new-'], ['container', 'equals', '/new/'])
    const key = await kit.open({ rules: [rule] })
    const create = (id: string, container: string) =>
      vault.ask('POST', '/tokens', { key, body: cardToken(id, container) })
    const made = await create('new-1', '/new/')
    expect([made.status, made.body['data']]).toEqual([201, 'alue'])
    expect((await create('old-1', '/new/')).status).toBe(403)
    expect((await create('new-2', '/new/below/')).status).toBe(403)
    for (const id of ['old-1', 'new-2'])
      expect((await show(kit.authorizer.key, id)).status).toBe(404)
  })

  // proves C9.8
  test('changes, moves and deletes only where a rule covers both ends', async () => {
    const rule = ruleOn('mask', ['container', 'starts_with', '/own/'])
    const key = await kit.open({ rules: [rule] })
    const create = async (id: string, container: string, by: string) => {
      const body = cardToken(id, container)
      expect((await vault.ask('POST', '/tokens', { key: by, body })).status).toBe(201)
    }
    await create('own-1', '/own/a/', key)
    await create('out-1', '/out/', kit.authorizer.key)
    const patch = async (id: string, body: object) =>
      (await vault.ask('PATCH', `/tokens/${id}`, { key, body })).status
    expect(await patch('own-1', { containers: ['/OWN/b/'] })).toBe(200)
    expect(await patch('own-1', { containers: ['/out/'] })).toBe(403)
    expect(await patch('out-1', { data: 'mine' })).toBe(404)
    const remove = async (id: string) =>
      (await vault.ask('DELETE', `/tokens/${id}`, { key })).status
    expect([await remove('out-1'), await remove('own-1'), await remove('own-1')]).toEqual([
      404, 204, 404,
    ])
    expect((await show(kit.authorizer.key, 'out-1')).data).toBe('secret-value')
  })

  // proves A7.12
  test('holds only the permissions of its rules', async () => {
    const rule = { ...ruleOn('reveal', ['id', 'equals', 'order-1']), permissions: ['token:read'] }
    const key = await kit.open({ rules: [rule] })
    expect((await show(key, 'order-1')).status).toBe(200)
    expect((await vault.ask('DELETE', '/tokens/order-1', { key })).status).toBe(403)
    const body = { data: 'x' }
    expect((await vault.ask('PATCH', '/tokens/order-1', { key, body })).status).toBe(403)
  })
})

const pciRule = {
  priority: 1,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:read', 'token:create'],
}
const inPci = { attribute: 'container', operator: 'starts_with', value: '/pci/' }

describe('grants that are bound to the authorizer', () => {
  let vault: TestVault
  let kit: SessionKit
  let key: string
  const addAuthorizer = () => addApplication(vault, { type: 'private', rules: [pciRule] })
  beforeAll(async () => {
    vault = await openTestVault(72)
    kit = await openSessionKit(vault)
    key = (await addAuthorizer()).key
  })

  const wider: readonly (readonly [string, object])[] = [
    ['a plain permission', { permissions: ['token:read'] }],
    ['a wider container', { rules: [{ ...pciRule, container: '/' }] }],
    ['another container', { rules: [{ ...pciRule, container: '/bank/' }] }],
    ['a transform that shows more', { rules: [{ ...pciRule, transform: 'reveal' }] }],
    ['one permission more', { rules: [{ ...pciRule, permissions: ['token:read', 'token:use'] }] }],
    [
      'a condition on ids alone',
      { rules: [{ ...pciRule, container: null, conditions: [{ ...inPci, attribute: 'id' }] }] },
    ],
  ]

  // proves C12.5, E5, H154, S47
  test.each(wider)('are refused where they hold %s, and leave the nonce', async (_, grants) => {
    const { key: session, nonce } = await kit.create()
    const answer = await kit.authorize(nonce, grants, key)
    expect(answer.status).toBe(403)
    expect(answer.text).not.toContain(nonce)
    expect((await vault.ask('GET', '/tokens', { key: session })).status).toBe(403)
    expect((await kit.authorize(nonce, { rules: [pciRule] }, key)).status).toBe(200)
  })

  const within: readonly (readonly [string, object])[] = [
    ['the same', { rules: [pciRule] }],
    [
      'a container below, redacted',
      { rules: [{ ...pciRule, container: '/pci/high/', transform: 'redact' }] },
    ],
    [
      'a condition on that container',
      { rules: [{ ...pciRule, container: null, conditions: [inPci] }] },
    ],
  ]

  // proves C12.5
  test.each(within)('are given where they hold %s', async (_, grants) => {
    const { nonce } = await kit.create()
    expect((await kit.authorize(nonce, grants, key)).status).toBe(200)
  })

  test('are checked after the nonce was found, and before it is said to be used', async () => {
    const granted = { permissions: ['token:read'] }
    const { nonce } = await kit.create()
    expect((await kit.authorize('absent', granted, key)).status).toBe(404)
    await kit.authorize(nonce, { rules: [pciRule] }, key)
    expect((await kit.authorize(nonce, granted, key)).status).toBe(403)
    expect((await kit.authorize(nonce, { rules: [pciRule] }, key)).status).toBe(409)
  })

  // proves C12.7, H158
  test('lose what the authorizer loses, and end with it', async () => {
    const { id, key: shrinking } = await addAuthorizer()
    const { key: session, nonce } = await kit.create()
    await kit.authorize(nonce, { rules: [pciRule] }, shrinking)
    const read = async () => (await vault.ask('GET', '/tokens/absent', { key: session })).status
    const replace = async (rule: object) => {
      const body = { name: 'shrunk', rules: [rule] }
      const asked = { key: vault.managementKey, body }
      expect((await vault.ask('PUT', `/applications/${id}`, asked)).status).toBe(200)
    }
    expect(await read()).toBe(404)
    await replace({ ...pciRule, container: '/pci/high/' })
    expect(await read()).toBe(403)
    await replace(pciRule)
    expect(await read()).toBe(404)
    await vault.ask('DELETE', `/applications/${id}`, { key: vault.managementKey })
    expect(await read()).toBe(401)
  })
})

// proves C12.8
test('bound grants end when either application expires, also while they are in use', async () => {
  const expires = { expires_at: '2030-01-01T00:01:00Z' }
  for (const [creatorEnd, authorizerEnd] of [
    [expires, {}],
    [{}, expires],
  ]) {
    const vault = await openTestVault(74)
    const kit = await openSessionKit(vault)
    const writing = { type: 'public', permissions: ['token:create'], ...creatorEnd }
    const creator = await addApplication(vault, writing)
    const authorizer = { type: 'private', rules: [pciRule], ...authorizerEnd }
    const { key } = await addApplication(vault, authorizer)
    const session = await kit.create(creator.key)
    expect((await kit.authorize(session.nonce, { rules: [pciRule] }, key)).status).toBe(200)
    const read = async () => (await vault.ask('GET', '/tokens', { key: session.key })).status
    vault.clock.advance(59_999)
    expect(await read()).toBe(200)
    vault.clock.advance(1)
    expect(await read()).toBe(401)
  }
})

// proves C12.6
test('grants are not bound to the authorizer where the setting says so', async () => {
  const vault = await openTestVault(73, { sessionGrantsWithinAuthorizer: false })
  const kit = await openSessionKit(vault)
  const { key } = await addApplication(vault, { type: 'private', rules: [pciRule] })
  const { key: session, nonce } = await kit.create()
  const rule = { ...pciRule, container: '/', transform: 'reveal', permissions: tokenPermissions }
  expect((await kit.authorize(nonce, { rules: [rule] }, key)).status).toBe(200)
  const body = cardToken('wide-1', '/bank/')
  await vault.ask('POST', '/tokens', { key: session, body })
  const shown = await vault.ask('GET', '/tokens/wide-1', { key: session })
  expect(shown.body['data']).toBe('secret-value')
})
