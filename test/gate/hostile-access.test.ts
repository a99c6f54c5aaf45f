/**
 * Hostile access: permissions that are missing, strangers, odd containers and odd grants. Groups H
 * and I of docs/hostile-inputs.md, where no other file has the case;
 * contract sections 2, 7, 11, 13.
 * @module
 */
import { afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { permissions as allPermissions } from '../../src/rules/permissions.ts'
import { expectProblem } from '../support/problem.ts'
import { canary } from '../support/refusal.ts'
import { addApplication, openSessionKit, tokenPermissions } from '../support/sessions.ts'
import { addTenant } from '../support/tenants.ts'
import { openTestVault, reopenTestVault, type Answer, type TestVault } from '../support/vault.ts'

let vault: TestVault
/** Holds every token permission, everywhere. */
let wide: string
beforeAll(async () => {
  vault = await openTestVault(161)
  wide = await vault.application({ type: 'private', permissions: tokenPermissions })
})

let created = 0

/** Nothing of a refused request is in the log, and a good request is answered. */
afterEach(async () => {
  expect(vault.logged.join('\n')).not.toContain(canary)
  const good = await create(wide, { id: `good-${(created += 1)}` })
  expect(good.status).toBe(201)
})

const create = (key: string, body: object) =>
  vault.ask('POST', '/tokens', { key, body: { type: 'token', data: 1, ...body } })

const manage = (method: string, path: string, body?: unknown) =>
  vault.ask(method, path, { key: vault.managementKey, ...(body === undefined ? {} : { body }) })

const rule = { priority: 1, container: '/', transform: 'mask', permissions: ['token:read'] }
const backend = { name: 'x', type: 'private', permissions: ['token:read'] }

function expectRefused(answer: Answer, status: number, paths?: readonly string[]): void {
  expectProblem(answer, status, paths, [canary])
}

// proves H124
test('H124: an old key is 401 once its regeneration is answered, and when reopened', async () => {
  const first = await openTestVault(162)
  const { id, key } = await addApplication(first, backend)
  const asked = { key: first.managementKey }
  const { body } = await first.ask('POST', `/applications/${id}/regenerate`, asked)
  const fresh = String(body['key'])
  const statusOf = async (own: TestVault, by: string) =>
    (await own.ask('GET', '/tokens', { key: by })).status
  expect([await statusOf(first, key), await statusOf(first, fresh)]).toEqual([401, 200])
  const second = await reopenTestVault(first, 162)
  expect([await statusOf(second, key), await statusOf(second, fresh)]).toEqual([401, 200])
})

// proves H127
test('H127: a key of the right form that nobody has is 401, as none is', async () => {
  const { key } = await addApplication(vault, backend)
  const other = `${key.slice(0, -1)}${key.endsWith('2') ? '3' : '2'}`
  const none = await vault.ask('GET', '/tokens')
  const near = await vault.ask('GET', '/tokens', { key: other })
  expectProblem(near, 401, undefined, [other])
  expect({ ...near.body, instance: '' }).toEqual({ ...none.body, instance: '' })
  expect((await vault.ask('GET', '/tokens', { key })).status).toBe(200)
})

describe('H128: a caller who lacks only the permission of a route', () => {
  const patch = { data: canary }
  const change = { name: canary, permissions: ['token:read'] }
  const routes: readonly (readonly [string, string, string, unknown])[] = [
    ['token:create', 'POST', '/tokens', { id: 'ID', type: 'token', data: canary }],
    ['token:create', 'POST', '/tokenize', { a: canary }],
    ['token:read', 'GET', '/tokens', undefined],
    ['token:read', 'GET', '/v2/tokens', undefined],
    ['token:read', 'GET', '/tokens/ID', undefined],
    ['token:update', 'PATCH', '/tokens/ID', patch],
    ['token:delete', 'DELETE', '/tokens/ID', undefined],
    ['token:search', 'POST', '/tokens/search', { query: 'id:ID' }],
    ['token:search', 'POST', '/v2/tokens/search', { query: 'id:ID' }],
    ['token:use', 'POST', '/detokenize', '{{ ID }}'],
    ['application:create', 'POST', '/applications', { ...backend, name: canary }],
    ['application:read', 'GET', '/applications', undefined],
    ['application:read', 'GET', '/applications/APP', undefined],
    ['application:update', 'PUT', '/applications/APP', change],
    ['application:update', 'POST', '/applications/APP/regenerate', undefined],
    ['application:delete', 'DELETE', '/applications/APP', undefined],
    ['key:read', 'GET', '/applications/APP/keys', undefined],
    ['key:read', 'GET', `/applications/APP/keys/${canary}`, undefined],
    ['key:rotate', 'POST', '/applications/APP/keys', undefined],
    ['key:rotate', 'DELETE', `/applications/APP/keys/${canary}`, undefined],
    ['tenant:read', 'GET', '/tenants/self', undefined],
    ['tenant:update', 'PUT', '/tenants/self', { name: canary }],
  ]

  // proves H128
  test.each(routes)(
    'H128: %s for %s %s: 403, there or not',
    async (permission, method, path, body) => {
      const isToken = permission.startsWith('token:')
      const rest = allPermissions.filter(
        each => each !== permission && each.startsWith('token:') === isToken,
      )
      const type = isToken ? 'private' : 'management'
      const keys = [await vault.application({ type, permissions: rest })]
      const ruled = { ...rule, transform: 'reveal', permissions: rest }
      if (isToken) keys.push(await vault.application({ type, rules: [ruled] }))
      const id = `there-${(created += 1)}`
      expect((await create(wide, { id })).status).toBe(201)
      const { id: applicationId } = await addApplication(vault, backend)
      const named = (text: string, token: string, application: string) =>
        text.replace('ID', token).replace('APP', application)
      const ask = (key: string, token: string, application: string) =>
        vault.ask(method, named(path, token, application), {
          key,
          ...(body === undefined ? {} : { raw: named(JSON.stringify(body), token, application) }),
        })
      for (const key of keys) {
        const present = await ask(key, id, applicationId)
        const absent = await ask(key, 'absent', 'absent')
        expectRefused(present, 403)
        expect({ ...present.body, instance: '' }).toEqual({ ...absent.body, instance: '' })
      }
      expect((await vault.ask('GET', `/tokens/${id}`, { key: wide })).status).toBe(200)
      expect((await manage('GET', `/applications/${applicationId}`)).body['name']).not.toBe(canary)
    },
  )
})

// proves H129, S43
test('H129: whatever a stranger asks of another tenant is 404 and changes nothing', async () => {
  const kit = await openSessionKit(vault)
  const stranger = await addTenant(vault)
  const open = { ...rule, transform: 'reveal', permissions: tokenPermissions }
  const key = await stranger.application({ type: 'private', rules: [open] })
  await create(wide, { id: 'owned', data: canary })
  const { id, key: own } = await addApplication(vault, backend)
  const { nonce } = await kit.create()
  const show = async () => [
    (await vault.ask('GET', '/tokens/owned', { key: wide })).body,
    (await manage('GET', `/applications/${id}`)).body,
  ]
  const before = await show()
  const change = { name: canary, permissions: ['token:read'] }
  const asks: readonly (readonly [string, string, string, unknown?])[] = [
    [key, 'GET', '/tokens/owned'],
    [key, 'PATCH', '/tokens/owned', { data: canary }],
    [key, 'DELETE', '/tokens/owned'],
    [key, 'POST', '/sessions/authorize', { nonce, permissions: ['token:read'] }],
    [stranger.managementKey, 'GET', `/applications/${id}`],
    [stranger.managementKey, 'PUT', `/applications/${id}`, change],
    [stranger.managementKey, 'POST', `/applications/${id}/regenerate`],
    [stranger.managementKey, 'DELETE', `/applications/${id}`],
  ]
  for (const [by, method, path, body] of asks) {
    const ask = body === undefined ? { key: by } : { key: by, body }
    expectRefused(await vault.ask(method, path, ask), 404)
  }
  // A reference that cannot be used is a 400 that does not say why (decision).
  expectRefused(await vault.ask('POST', '/detokenize', { key, body: '{{ owned }}' }), 400)
  expect(await show()).toEqual(before)
  expect((await vault.ask('GET', '/tokens', { key: own })).status).toBe(200)
  expect((await kit.authorize(nonce, { permissions: ['token:read'] })).status).toBe(200)
})

describe('H131: a rule on /pci/', () => {
  let scoped: string
  beforeAll(async () => {
    const permissions = ['token:create', 'token:read']
    const rules = [{ ...rule, container: '/PCI/', transform: 'reveal', permissions }]
    scoped = await vault.application({ type: 'private', rules })
  })

  // proves H131
  test.each([
    ['/PCI/', true],
    ['/pci/high/', true],
    ['/pci-dev/', false],
    ['/pcix/', false],
    ['/pc/', false],
    ['/', false],
    ['/x/pci/', false],
  ])('H131: covers %s: %p', async (container, isCovered) => {
    const id = `placed-${(created += 1)}`
    const secret = { data: canary, containers: [container] }
    const made = await create(scoped, { id: `${id}-own`, ...secret })
    expect(made.status).toBe(isCovered ? 201 : 403)
    expect(made.text).not.toContain(canary)
    expect((await create(wide, { id, ...secret })).status).toBe(201)
    const read = await vault.ask('GET', `/tokens/${id}`, { key: scoped })
    if (isCovered) expect([read.status, read.body['data']]).toEqual([200, canary])
    else expectRefused(read, 404)
  })

  // proves H131
  test.each(['/pci', 'pci/', '//pci/', '/pci//', '/pci/../gen/', '/pci/./', '/pci%2f/', ''])(
    'H131: %j is no container of a token, and none of a rule',
    async container => {
      const own = `${container}${canary}!`
      for (const sent of [container, own]) {
        for (const key of [scoped, wide]) {
          const answer = await create(key, { containers: [sent], data: canary })
          expectRefused(answer, 400, ['containers[0]'])
        }
        const rules = [{ ...rule, container: sent }]
        const granted = await manage('POST', '/applications', { ...backend, rules })
        expectRefused(granted, 400, ['rules[0].container'])
      }
    },
  )
})

describe('grants that are odd', () => {
  const grant = (changes: object) => manage('POST', '/applications', { ...backend, ...changes })

  // proves H135
  test.each([0, -1, 1.5, 1e300, '1', null, true])(
    'H135: a rule of priority %p is refused',
    async priority => {
      const rules = [{ ...rule, priority }]
      expectRefused(await grant({ rules }), 400, ['rules[0].priority'])
    },
  )

  // proves H135
  test('H135: a rule of priority 1000000000 is taken, and comes after the first', async () => {
    const first = { ...rule, transform: 'redact' }
    const rules = [{ ...rule, priority: 1e9, transform: 'reveal' }, first]
    const made = await grant({ rules })
    expect([made.status, made.text.includes('"priority":1000000000')]).toEqual([201, true])
    await create(wide, { id: 'late', data: canary })
    const read = await vault.ask('GET', '/tokens/late', { key: String(made.body['key']) })
    expect([read.status, read.text.includes(canary)]).toEqual([200, false])
  })

  // proves H136
  test.each([
    'REVEAL',
    'Reveal',
    'reveal ',
    ' reveal',
    '',
    canary,
    null,
    1,
    { reveal: 1 },
    undefined,
  ])('H136: the transform %j is refused', async transform => {
    const rules = [{ ...rule, transform }]
    expectRefused(await grant({ rules }), 400, ['rules[0].transform'])
  })

  // proves H137
  test.each(['token:*', '*', 'token', 'Token:Read', 'token:read ', 'token:read\0', '', canary, 1])(
    'H137: the permission %j is refused, plainly and in a rule',
    async permission => {
      expectRefused(await grant({ permissions: [permission] }), 400, ['permissions[0]'])
      const rules = [{ ...rule, permissions: [permission] }]
      expectRefused(await grant({ rules }), 400, ['rules[0].permissions[0]'])
    },
  )

  // proves H137
  test('H137: 10,000 permissions are refused; one that is named twice is held once', async () => {
    const many = Array.from({ length: 10_000 }, () => 'token:read')
    expectRefused(await grant({ permissions: many }), 400, ['permissions'])
    const unknown = Array.from({ length: 10_000 }, () => canary)
    const refused = await grant({ permissions: unknown })
    expectRefused(refused, 400)
    expect(refused.text.length).toBeLessThan(16_000)
    // Fifty may be sent, more than there are: repeats are no fault.
    const twice = await grant({ permissions: ['token:read', 'token:read'] })
    expect([twice.status, twice.body['permissions']]).toEqual([201, ['token:read']])
  })

  // proves H138
  test('H138: a rule grants no more than the type may hold', async () => {
    const rules = [{ ...rule, permissions: ['token:create', 'token:read'] }]
    const open = { type: 'public', permissions: [] }
    expectRefused(await grant({ ...open, rules }), 400, ['rules[0].permissions[1]'])
    const managing = [{ ...rule, permissions: ['application:create'] }]
    expectRefused(await grant({ rules: managing }), 400, ['rules[0].permissions[0]'])
  })

  // proves H141
  test('H141: no type that is sent with a change widens what may be held', async () => {
    const { id, key } = await addApplication(vault, {
      type: 'public',
      permissions: ['token:create'],
    })
    for (const [type, permission] of [
      ['private', 'token:read'],
      ['management', 'application:create'],
    ]) {
      const body = { name: canary, type, permissions: [permission] }
      expectRefused(await manage('PUT', `/applications/${id}`, body), 400, ['permissions[0]'])
    }
    const good = { name: 'y', type: canary, permissions: ['token:create'] }
    const changed = await manage('PUT', `/applications/${id}`, good)
    expect([changed.status, changed.body['type']]).toEqual([200, 'public'])
    expect(changed.text).not.toContain(canary)
    expectRefused(await vault.ask('GET', '/tokens', { key }), 403)
  })
})

// proves H142
test('H142: a caller of one container moves none out of it, into two or into none', async () => {
  const rules = [{ ...rule, container: '/own/', permissions: ['token:update'] }]
  const key = await vault.application({ type: 'private', rules })
  await create(wide, { id: 'kept', data: canary, containers: ['/own/'] })
  const patch = (containers: unknown) =>
    vault.ask('PATCH', '/tokens/kept', { key, body: { containers } })
  for (const container of ['/other/', '/', '/own-dev/']) {
    expectRefused(await patch([container]), 403)
  }
  for (const containers of [['/own/', '/other/'], [], null]) {
    expectRefused(await patch(containers), 400, ['containers'])
  }
  const read = await vault.ask('GET', '/tokens/kept', { key: wide })
  expect(read.body['containers']).toEqual(['/own/'])
  expect((await patch(['/OWN/below/'])).status).toBe(200)
})

// proves H143
test('H143: a caller who updates without reading is shown the mask at most', async () => {
  const key = await vault.application({ type: 'public', permissions: ['token:update'] })
  await create(wide, { id: 'bare', data: canary })
  await create(wide, { id: 'masked', data: canary, mask: '{{ data | last4 }}' })
  const patch = (id: string) =>
    vault.ask('PATCH', `/tokens/${id}`, { key, body: { metadata: { a: '1' } } })
  const bare = await patch('bare')
  expect([bare.status, bare.body['data'], bare.text.includes(canary)]).toEqual([
    200,
    undefined,
    false,
  ])
  const masked = await patch('masked')
  expect([masked.status, masked.body['data'], masked.text.includes(canary)]).toEqual([
    200,
    canary.slice(-4),
    false,
  ])
  expectRefused(await vault.ask('GET', '/tokens/masked', { key }), 403)
})

// proves H146
test('H146: of two rules that cover a token the priority decides, in both orders', async () => {
  await create(wide, { id: 'both', data: canary, containers: ['/both/in/'] })
  const outer = { ...rule, container: '/both/' }
  const inner = { ...rule, container: '/both/in/' }
  const show = async (first: object, second: object) => {
    const rules = [
      { ...second, priority: 2 },
      { ...first, priority: 1 },
    ]
    const key = await vault.application({ type: 'private', rules })
    const { status, body } = await vault.ask('GET', '/tokens/both', { key })
    expect(status).toBe(200)
    return body['data']
  }
  const [reveal, redact] = [{ transform: 'reveal' }, { transform: 'redact' }]
  expect(await show({ ...outer, ...reveal }, { ...inner, ...redact })).toBe(canary)
  expect(await show({ ...inner, ...redact }, { ...outer, ...reveal })).toBeUndefined()
  expect(await show({ ...outer, ...redact }, { ...inner, ...reveal })).toBeUndefined()
  expect(await show({ ...inner, ...reveal }, { ...outer, ...redact })).toBe(canary)
})

// proves H148
test('H148: its creator and its tenant are never those of the body', async () => {
  const other = '00000000-0000-4000-8000-000000000000'
  const claimed = { tenant_id: other, created_by: other, modified_by: other, created_at: canary }
  const token = await create(wide, claimed)
  const application = await manage('POST', '/applications', { ...backend, ...claimed, id: other })
  for (const { status, text, body } of [token, application]) {
    expect([status, body['tenant_id']]).toEqual([201, vault.tenantId])
    for (const sent of [other, canary]) expect(text).not.toContain(sent)
  }
})
