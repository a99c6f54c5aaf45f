/**
 * Members of a body that are nearly named as a known one are refused, and all other unknown ones
 * are ignored; in searches, rules, sessions and the queries of lists they are refused as well.
 * Contract sections 1 and 14.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:search']
const rule = { priority: 1, container: '/', transform: 'mask', permissions }
const token = { type: 'token', data: 'kept' }

let vault: TestVault
let key: string
let publicKey: string
beforeAll(async () => {
  vault = await openTestVault(160)
  key = await vault.application({ type: 'private', permissions })
  publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
  await vault.ask('POST', '/tokens', { key, body: { id: 'patched', ...token } })
})

const create = (more: object) => vault.ask('POST', '/tokens', { key, body: { ...token, ...more } })

const totalItems = async () =>
  (await vault.ask('GET', '/tokens', { key })).body['pagination'] as { total_items: number }

const refusal = (place: string) => ({
  [place]: [`unknown member: did you mean \`${place.replace(/^.*[.\]]\.?/, '')}\`?`],
})

const misspelled: readonly (readonly [given: string, meant: string])[] = [
  ['expires_in', 'expires_at'],
  ['expiresAt', 'expires_at'],
  ['EXPIRES_AT', 'expires_at'],
  ['expires', 'expires_at'],
  ['expiry', 'expires_at'],
  ['ttl', 'expires_at'],
  ['container', 'containers'],
  ['meta_data', 'metadata'],
  ['Metadata', 'metadata'],
  ['metdata', 'metadata'],
  ['maks', 'mask'],
  ['search_index', 'search_indexes'],
  ['deduplicateToken', 'deduplicate_token'],
  ['fingerprint_expresion', 'fingerprint_expression'],
  ['ID', 'id'],
]

describe('a create whose member is', () => {
  // proves C1.18, E12.6
  test.each(misspelled)('%s is refused, and told %s', async (given, meant) => {
    const before = await totalItems()
    const { status, body, text } = await create({ [given]: null })
    expect([status, body['errors']]).toEqual([400, refusal(meant)])
    if (!meant.includes(given)) expect(text).not.toContain(given)
    expect(await totalItems()).toEqual(before)
  })

  // proves C1.18
  test.each([
    ['far from every known name', 'colour'],
    ['three letters away', 'expires_aaaa'],
    ['as short as the id, with no letter of it', 'xy'],
    ['of one letter', 'x'],
    ['of an answer', 'created_at'],
    ['of an answer, too', '_extras'],
    ['empty', ''],
    ['a name of prototypes', '__proto__'],
    ['longer than any known one', `expires_at${'x'.repeat(1_000)}`],
  ])('%s is taken without it', async (_, given) => {
    const raw = `{"type":"token","data":1,${JSON.stringify(given)}:{"expires_in":1}}`
    expect((await vault.ask('POST', '/tokens', { key, raw })).status).toBe(201)
  })

  // proves C1.18
  test('right is taken beside any of data and metadata, which are the caller’s own', async () => {
    const data = { expires_in: 1, ttl: 2, rule: [{ permission: 'x' }], dat: 3 }
    const metadata = { expires_in: 'a', meta_data: 'b', container: 'c' }
    const mask = { expires_in: '{{ data.expires_in }}' }
    const { status, body } = await create({ data, metadata, mask })
    expect([status, body['metadata']]).toEqual([201, metadata])
  })
})

test('all misspelled members are told at once, but no more than a few', async () => {
  const { body } = await create({ expires_in: 1, meta: {}, Mask: '', MASK: '' })
  expect(Object.keys(body['errors'] as object).toSorted()).toEqual([
    'expires_at',
    'mask',
    'metadata',
  ])
})

test('of many strange members, none costs a refusal', async () => {
  const names = Array.from({ length: 9_000 }, (_, index) => [`expires${index + 10_000}`, 0])
  expect((await create(Object.fromEntries(names))).status).toBe(201)
})

const otherBodies: readonly (readonly [string, string, object, string])[] = [
  ['PATCH', '/tokens/patched', { expires_in: 1 }, 'expires_at'],
  ['PATCH', '/tokens/absent', { meta_data: {} }, 'metadata'],
  ['POST', '/tokens/search', { query: '*', limit: 1 }, 'size'],
  ['POST', '/v2/tokens/search', { query: '*', sise: 1 }, 'size'],
  ['POST', '/tokenize', token && { ...token, ttl: 1 }, 'expires_at'],
  ['POST', '/tokenize', [[{ ...token, ttl: 1 }]], '[0][0].expires_at'],
]

describe('a misspelled member is refused', () => {
  // proves E12.6
  test.each(otherBodies)('by %s %s: %p', async (method, path, body, place) => {
    const answer = await vault.ask(method, path, { key, body })
    expect([answer.status, answer.body['errors']]).toEqual([400, refusal(place)])
  })

  test('in an item of a bulk request, which fails alone', async () => {
    const items = [{ ...token, expires_in: 60 }, token]
    const { body } = await vault.ask('POST', '/tokenize?mode=partial', { key, body: items })
    const results = body['results'] as { status: number; error?: { errors: unknown } }[]
    expect(results.map(({ status }) => status)).toEqual([400, 201])
    expect(results[0]?.error?.errors).toEqual(refusal('expires_at'))
  })

  test('but not in what is tokenized value by value', async () => {
    const body = { expires_in: 'a text', ttl: 3, type: 'no type' }
    expect((await vault.ask('POST', '/tokenize', { key, body })).status).toBe(200)
  })

  const application = { name: 'new', type: 'private' }

  // proves E12.6
  test.each([
    [{ ...application, rule: [rule] }, 'rules'],
    [{ ...application, permission: permissions }, 'permissions'],
    [{ ...application, permissions, expires_in: 60 }, 'expires_at'],
    [{ ...application, rules: [{ ...rule, containers: ['/'] }] }, 'rules[0].container'],
    [{ ...application, rules: [rule, { ...rule, permision: [] }] }, 'rules[1].permissions'],
    [{ ...application, rules: [{ ...rule, Transform: 'reveal' }] }, 'rules[0].transform'],
  ])('of an application: %p', async (body, place) => {
    const asked = { key: vault.managementKey, body }
    const answer = await vault.ask('POST', '/applications', asked)
    expect([answer.status, answer.body['errors']]).toEqual([400, refusal(place)])
  })

  test('of changes of an application, which stays as it is', async () => {
    const { body } = await vault.ask('GET', '/applications/key', { key })
    const path = `/applications/${String(body['id'])}`
    const changes = { name: 'renamed', permission: permissions }
    const refused = await vault.ask('PUT', path, { key: vault.managementKey, body: changes })
    expect([refused.status, refused.body['errors']]).toEqual([400, refusal('permissions')])
    expect((await vault.ask('GET', '/applications/key', { key })).body).toEqual(body)
  })

  const condition = { attribute: 'id', operator: 'equals', value: 'patched' }
  const byId = { priority: 1, transform: 'mask', permissions: ['token:read'] }

  // proves E12.6
  test.each([
    [{ permissions, expiry: 'soon' }, 'expires_at'],
    [{ rules: [{ ...byId, condition: [condition] }] }, 'rules[0].conditions'],
    [
      { rules: [{ ...byId, conditions: [{ ...condition, values: [] }] }] },
      'rules[0].conditions[0].value',
    ],
  ])('of a session, whose nonce stays good: %p', async (grants, place) => {
    const { body } = await vault.ask('POST', '/sessions', { key: publicKey })
    const { nonce } = body
    const refused = await vault.ask('POST', '/sessions/authorize', {
      key,
      body: { nonce, ...grants },
    })
    expect([refused.status, refused.body['errors']]).toEqual([400, refusal(place)])
    const right = { nonce, permissions: ['token:read'] }
    expect((await vault.ask('POST', '/sessions/authorize', { key, body: right })).status).toBe(200)
  })
})

describe('a member that is near no known one is refused, and told those that there are', () => {
  const names = ['description', 'priority', 'container', 'conditions', 'transform', 'permissions']
  const expected = `unknown member: expected only ${names.map(name => `\`${name}\``).join(', ')}`
  const application = { name: 'new', type: 'private', permissions }

  // proves C1.18
  test('in a rule of an application, and ignored beside the rules', async () => {
    const ask = (body: object) =>
      vault.ask('POST', '/applications', { key: vault.managementKey, body })
    const refused = await ask({ ...application, rules: [rule, { ...rule, colour: 'c4n4ry' }] })
    expect([refused.status, refused.body['errors']]).toEqual([400, { 'rules[1]': [expected] }])
    expect(refused.text).not.toMatch(/colour|c4n4ry/)
    expect((await ask({ ...application, colour: 'red' })).status).toBe(201)
  })

  // proves C1.18
  test('in the grants of a session and all below them, and its nonce stays good', async () => {
    const { nonce } = (await vault.ask('POST', '/sessions', { key: publicKey })).body
    const ask = async (grants: object) => {
      const asked = { key, body: { nonce, ...grants } }
      const { status, body } = await vault.ask('POST', '/sessions/authorize', asked)
      return [status, Object.keys(body['errors'] ?? {})]
    }
    const condition = { attribute: 'id', operator: 'equals', value: 'x', colour: 1 }
    const byId = { priority: 1, transform: 'mask', permissions: ['token:read'] }
    expect(await ask({ permissions, colour: 1 })).toEqual([400, ['body']])
    expect(await ask({ rules: [{ ...rule, colour: 1 }] })).toEqual([400, ['rules[0]']])
    expect(await ask({ rules: [{ ...byId, conditions: [condition] }] })).toEqual([
      400,
      ['rules[0].conditions[0]'],
    ])
    expect((await ask({ permissions: ['token:read'] }))[0]).toBe(200)
  })
})

describe('a parameter of a query that is', () => {
  const listed = (path: string, by = key) => vault.ask('GET', path, { key: by })

  // proves C1.22
  test.each([
    ['typ=card', 'type'],
    ['types=card', 'type'],
    ['Type=card', 'type'],
    ['type[]=card', 'type'],
    ['ID=a', 'id'],
    ['ids=a', 'id'],
    ['containers=/a/', 'container'],
    ['continer=/a/', 'container'],
    ['fingerprints=a', 'fingerprint'],
    ['Size=3', 'size'],
    ['pages=2', 'page'],
    ['strat=', 'start'],
    ['metadata_order=a', 'metadata'],
    ['metadata:order=a', 'metadata'],
    ['metadata-order=a', 'metadata'],
    ['metadata[order=a', 'metadata'],
    ['Metadata.order=a', 'metadata'],
    ['metdata.order=a', 'metadata'],
    ['meta_data[order]=a', 'metadata'],
    ['meta=a', 'metadata'],
    ['limit=1', 'size'],
    ['per_page=1', 'size'],
    ['offset=1', 'page'],
    ['cursor=x', 'start'],
  ])('%s is refused, and told the name that was meant', async (query, meant) => {
    for (const path of ['/tokens', '/v2/tokens']) {
      const { status, body, text } = await listed(`${path}?${query}`)
      const errors = { [`query.${meant}`]: [`unknown parameter: did you mean \`${meant}\`?`] }
      if (path === '/v2/tokens' && meant === 'page') continue
      expect([status, body['errors']]).toEqual([400, errors])
      expect(text).not.toContain('order')
    }
  })

  // proves C1.22, H73
  test.each(['colour=c4n4ry', '_=1', 'a=1&b=2', '__proto__=1'])(
    'far from every known one is refused, and told those that there are: %s',
    async query => {
      const { status, body, text } = await listed(`/tokens?${query}`)
      const names = ['id', 'type', 'container', 'fingerprint', 'metadata.<key>', 'transform']
      const expected = [...names, 'page', 'size', 'start'].map(name => `\`${name}\``).join(', ')
      const errors = { query: [`unknown parameter: expected only ${expected}`] }
      expect([status, body['errors']]).toEqual([400, errors])
      expect(text).not.toMatch(/colour|c4n4ry|proto/)
    },
  )

  // proves C1.22
  test.each([
    ['/applications', '`id`, `type`, `page`, `size`'],
    ['/applications/ID/keys', '`id`, `type`'],
    ['/sessions', '`start`, `size`'],
    ['/permissions', '`application_type`'],
    ['/containers', '`below`'],
  ])('far from every known one of %s is refused too', async (path, names) => {
    const { body: own } = await listed('/applications/key')
    const asked = `${path.replace('ID', String(own['id']))}?colour=red`
    const by = path === '/containers' ? key : vault.managementKey
    const { status, body } = await listed(asked, by)
    const errors = { query: [`unknown parameter: expected only ${names}`] }
    expect([status, body['errors']]).toEqual([400, errors])
  })

  // proves C1.22
  test('that of a member, nameless, or where nothing is read, is taken', async () => {
    for (const query of ['metadata.types=a', 'metadata[ids]=a', 'metadata.limit=1', '&=&']) {
      expect([query, (await listed(`/tokens?${query}`)).status]).toEqual([query, 200])
    }
    expect((await listed('/tokens/patched?typ=card')).status).toBe(200)
    expect((await listed('/tokens/patched?colour=red')).status).toBe(200)
  })

  // proves C1.22
  test.each([
    ['/applications?Type=private', 'type'],
    ['/applications?ids=a', 'id'],
    ['/applications?sizes=3', 'size'],
    ['/sessions?Start=', 'start'],
    ['/sessions?sise=3', 'size'],
  ])('misspelled in %s is refused too', async (path, meant) => {
    const { status, body } = await listed(path, vault.managementKey)
    expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, [`query.${meant}`]])
  })

  test('misspelled for a bulk operation is refused, and nothing is stored', async () => {
    const before = await totalItems()
    const answer = await vault.ask('POST', '/tokenize?Mode=partial', { key, body: ['a'] })
    expect([answer.status, Object.keys(answer.body['errors'] ?? {})]).toEqual([400, ['query.mode']])
    expect(await totalItems()).toEqual(before)
  })
})
