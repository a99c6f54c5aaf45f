/**
 * Errors over HTTP: their one shape, where a 400 points, and the order in which requests are
 * checked. Source: contract section 2.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type Answer, type Ask, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

let vault: TestVault
let plain: string
/** May do all below `/pci/`, and nothing elsewhere. */
let scoped: string

beforeAll(async () => {
  vault = await openTestVault(133)
  plain = await vault.application({ type: 'private', permissions })
  const rules = [{ priority: 1, container: '/pci/', transform: 'mask', permissions }]
  scoped = await vault.application({ type: 'private', rules })
  for (const [id, container] of [
    ['inner', '/pci/a/'],
    ['outer', '/bank/'],
  ]) {
    const body = { id, type: 'token', data: 1, containers: [container] }
    await vault.ask('POST', '/tokens', { key: plain, body })
  }
})

const bad = { type: 'card', data: { number: '4242424242424241' } }

describe('a problem', () => {
  // proves C2.1, C2.3, P37
  test('has the members of RFC 9457, and errors for a 400 alone', async () => {
    const headers = { 'SVC-TRACE-ID': 'my-trace' }
    const asks: readonly (readonly [number, string, string, Ask])[] = [
      [400, 'POST', '/tokens', { key: plain, body: bad }],
      [401, 'GET', '/tokens', {}],
      [403, 'GET', '/tokens', { key: vault.managementKey }],
      [404, 'GET', '/tokens/absent', { key: plain }],
      [405, 'PUT', '/tokens', { key: plain }],
      [409, 'POST', '/tokens', { key: plain, body: { id: 'outer', type: 'token', data: 1 } }],
      [415, 'POST', '/tokens', { key: plain, raw: '{}', type: 'text/plain' }],
    ]
    for (const [status, method, path, ask] of asks) {
      const answer = await vault.ask(method, path, { ...ask, headers })
      expectProblem(answer, status)
      const { type, title, detail, instance, errors } = answer.body
      expect([type, instance]).toEqual(['about:blank', 'urn:trace:my-trace'])
      for (const text of [title, detail]) expect(String(text)).not.toBe('')
      expect(errors === undefined).toBe(status !== 400)
    }
  })

  // proves C2.4, C2.5
  test('of a 400 has one title, and dotted paths to each fault', async () => {
    const rule = { priority: 0, container: '/', transform: 'mask', permissions: ['token:read'] }
    const application = { name: 'x', type: 'private', rules: [rule, { ...rule, priority: 1 }] }
    const asks: readonly (readonly [string, string, unknown, string, readonly string[]])[] = [
      ['POST', '/tokens', bad, plain, ['data.number']],
      ['GET', '/tokens?size=canary', undefined, plain, ['query.size']],
      ['POST', '/applications', application, vault.managementKey, ['rules[0].priority']],
    ]
    for (const [method, path, body, key, paths] of asks) {
      const ask = { key, ...(body === undefined ? {} : { body }) }
      const answer = await vault.ask(method, path, ask)
      expect(answer.body['title']).toBe('One or more validation errors occurred.')
      expectProblem(answer, 400)
      const errors = answer.body['errors'] as Record<string, unknown>
      for (const at of paths) expect(errors[at]).toEqual([expect.any(String)])
      for (const at of Object.keys(errors)) expect(at).toMatch(/^[a-z_]+(?:\[\d+\]|\.[a-z_]+)*$/)
    }
  })

  test('of a list is the whole list: nothing of what was right is answered', async () => {
    const answer = await vault.ask('GET', '/tokens?size=5&page=0', { key: plain })
    expectProblem(answer, 400, ['query.page'])
    expect(answer.body).not.toHaveProperty('data')
  })
})

// proves C1.7
test('every answer with a body is JSON in UTF-8, and one without a body says no type', async () => {
  const typeOf = ({ headers }: Answer) => headers.get('content-type')
  const body = { id: 'typed', type: 'token', data: '\u00e9' }
  const made = await vault.ask('POST', '/tokens', { key: plain, body })
  const read = await vault.ask('GET', '/tokens/typed', { key: plain })
  const listed = await vault.ask('GET', '/tokens', { key: plain })
  for (const answer of [made, read, listed]) {
    expect(typeOf(answer)).toBe('application/json; charset=utf-8')
  }
  const removed = await vault.ask('DELETE', '/tokens/typed', { key: plain })
  expect([removed.status, removed.text, typeOf(removed)]).toEqual([204, '', null])
  expect(typeOf(await vault.ask('GET', '/tokens'))).toBe('application/problem+json; charset=utf-8')
})

// proves C2.2
test('an error is JSON if a caller takes that and neither problems nor everything', async () => {
  const typeFor = async (accept: string) => {
    const { status, headers, text } = await vault.ask('GET', '/tokens', {
      headers: { Accept: accept },
    })
    expect(status).toBe(401)
    expect(JSON.parse(text)).toMatchObject({ type: 'about:blank', title: 'Unauthorized' })
    return headers.get('content-type')
  }
  for (const accept of [
    'application/json',
    'Application/JSON; charset=utf-8',
    'text/html;q=0.1 , application/json;q=0.5',
    'application/*, application/json',
  ]) {
    expect([accept, await typeFor(accept)]).toEqual([accept, 'application/json; charset=utf-8'])
  }
  for (const accept of [
    '',
    '*/*',
    'text/html',
    'application/*',
    'application/json, */*',
    'application/json;q=1, */*;q=0.1',
    'application/json, Application/Problem+JSON',
    'application/jsonx, xapplication/json',
  ]) {
    const type = 'application/problem+json; charset=utf-8'
    expect([accept, await typeFor(accept)]).toEqual([accept, type])
  }
})

describe('of several faults the first of this order is told', () => {
  const text = { raw: '[', type: 'text/plain' }
  const patch = (id: string, ask: Ask) => vault.ask('PATCH', `/tokens/${id}`, ask)

  // proves C2.11
  test('401, 403 for the permission, 415, 400, 404, 403 by the rule', async () => {
    const key = scoped
    expectProblem(await patch('absent', text), 401)
    expectProblem(await patch('absent', { ...text, key: vault.managementKey }), 403)
    expectProblem(await patch('absent', { ...text, key }), 415)
    expectProblem(await patch('absent', { raw: '[', key }), 400)
    expectProblem(await patch('absent', { body: { expires_at: 5 }, key }), 400, ['expires_at'])
    expectProblem(await patch('absent', { body: { containers: ['/bank/'] }, key }), 404)
    expectProblem(await patch('outer', { body: { containers: ['/bank/'] }, key }), 404)
    expectProblem(await patch('inner', { body: { containers: ['/bank/'] }, key }), 403)
    expect((await patch('inner', { body: { containers: ['/pci/b/'] }, key })).status).toBe(200)
  })

  // proves C2.11
  test('400, 403 by the rule, 409', async () => {
    const create = (body: object) =>
      vault.ask('POST', '/tokens', { key: scoped, body: { id: 'outer', ...body } })
    const outside = { containers: ['/bank/'] }
    expectProblem(await create({ ...bad, ...outside }), 400, ['data.number'])
    expectProblem(await create({ type: 'token', data: 1, ...outside }), 403)
    expectProblem(await create({ type: 'token', data: 1, containers: ['/pci/'] }), 409)
  })
})
