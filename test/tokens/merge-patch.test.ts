/**
 * RFC 7386 over HTTP, and the outcome of hostile or strange patches. Source: contract section 9;
 * hardening H52 to H58, H63, H66.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update']
const cardNumber = '4242424242424242'

let vault: TestVault
let key: string

beforeAll(async () => {
  vault = await openTestVault(61)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  key = await vault.application({ type: 'private', rules })
})

/** @param body JSON text of the request, so that numbers and names stay as they are */
const createRaw = async (body: string): Promise<string> => {
  const answer = await vault.ask('POST', '/tokens', { key, raw: body })
  expect(answer.status).toBe(201)
  return String(answer.body['id'])
}
const createData = (data: string) => createRaw(`{"type":"token","data":${data}}`)
const patchRaw = (id: string, raw: string) => vault.ask('PATCH', `/tokens/${id}`, { key, raw })
const textOf = async (id: string): Promise<string> =>
  (await vault.ask('GET', `/tokens/${id}`, { key })).text
const nested = (depth: number, open: string, close: string): string =>
  open.repeat(depth) + '1' + close.repeat(depth)

describe('a merge patch of data', () => {
  // proves C9.1, H53, H55
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('of %s with %s gives %s, as in RFC 7386 appendix A', async (target, patch, result) => {
    const id = await createData(target)
    expect((await patchRaw(id, `{"data":${patch}}`)).status).toBe(200)
    expect(await textOf(id)).toContain(`"data":${result},`)
  })

  // proves H54
  test('with null, the row of the appendix that is left, is refused', async () => {
    const id = await createData('{"a":"foo"}')
    expectProblem(await patchRaw(id, '{"data":null}'), 400, ['data'])
    expect(await textOf(id)).toContain('"data":{"a":"foo"},')
  })

  test.each([
    ['{"a":1}', '5', '5'],
    ['5', '{"a":1.0}', '{"a":1.0}'],
    ['"text"', '[null,{"b":null}]', '[null,{"b":null}]'],
    [
      '{"a":1}',
      '{"__proto__":{"x":1},"constructor":{"prototype":{"x":2}}}',
      '{"a":1,"__proto__":{"x":1},"constructor":{"prototype":{"x":2}}}',
    ],
    ['{"a":{"b":{"c":1}}}', '{"a":{"b":{"c":12345678901234567890}}}', undefined],
  ])('of %s with %s keeps shapes, names and digits', async (target, patch, result) => {
    const id = await createData(target)
    expect((await patchRaw(id, `{"data":${patch}}`)).status).toBe(200)
    expect(await textOf(id)).toContain(`"data":${result ?? patch},`)
    expect('x' in {}).toBe(false)
  })

  // proves H58
  test('as deep as JSON may be is taken, one level more is refused', async () => {
    const id = await createData('{"a":1}')
    // The patch itself is the first level.
    const deepest = nested(63, '{"a":', '}')
    expect((await patchRaw(id, `{"data":${deepest}}`)).status).toBe(200)
    expect(await textOf(id)).toContain(`"data":${deepest},`)
    expectProblem(await patchRaw(id, `{"data":${nested(64, '{"a":', '}')}}`), 400)
    expectProblem(await patchRaw(id, `{"data":${nested(64, '[', ']')}}`), 400)
  })

  const breaking: readonly (readonly [string, string, string, string, string])[] = [
    ['a card number', 'card', `{"number":"${cardNumber}"}`, '{"number":null}', 'data.number'],
    [
      'the check digit of a card',
      'card',
      `{"number":"${cardNumber}"}`,
      '{"number":"4242424242424241"}',
      'data.number',
    ],
    [
      'a routing number',
      'bank',
      '{"routing_number":"021000021","account_number":"1234"}',
      '{"routing_number":"021000020"}',
      'data.routing_number',
    ],
    [
      'the length of an account number',
      'bank',
      '{"routing_number":"021000021","account_number":"1234"}',
      '{"account_number":"123456789012345678"}',
      'data.account_number',
    ],
    ['a card, by a text', 'card', `{"number":"${cardNumber}"}`, '"canary"', 'data'],
  ]

  // proves C2.7, C9.5, H56
  test.each(breaking)('that breaks %s is refused', async (_, type, data, patch, path) => {
    const id = await createRaw(`{"type":"${type}","data":${data}}`)
    const before = await textOf(id)
    const secrets = ['4242424242424241', '021000020', '123456789012345678']
    expectProblem(await patchRaw(id, `{"data":${patch}}`), 400, [path], secrets)
    expect(await textOf(id)).toBe(before)
  })
})

describe('a merge patch', () => {
  // proves C9.4, H57
  test('ignores what cannot be changed', async () => {
    const id = await createData('1')
    const { body: before } = await vault.ask('GET', `/tokens/${id}`, { key })
    const nobody = '00000000-0000-4000-8000-000000000000'
    const foreign = { id: nobody, type: 'card', tenant_id: nobody, created_by: nobody }
    const body = { ...foreign, fingerprint: 'canary', created_at: '1/1/2000', canary: 1 }
    const answer = await vault.ask('PATCH', `/tokens/${id}`, { key, body })
    expect(answer.status).toBe(200)
    expect((await vault.ask('GET', `/tokens/${id}`, { key })).body).toEqual({
      ...before,
      modified_by: before['created_by'],
      modified_at: '2030-01-01T00:00:00.000+00:00',
    })
  })

  // proves A10.18, H66
  test('of nothing changes nothing but who modified the token, and when', async () => {
    const id = await createData('{"a":1.0}')
    const { body: before } = await vault.ask('GET', `/tokens/${id}`, { key })
    expect(before).not.toHaveProperty('modified_at')
    expect((await patchRaw(id, '{}')).status).toBe(200)
    const { body: after } = await vault.ask('GET', `/tokens/${id}`, { key })
    const { modified_by: by, modified_at: at, ...rest } = after
    expect(rest).toEqual(before)
    expect([by, at]).toEqual([before['created_by'], '2030-01-01T00:00:00.000+00:00'])
  })

  test.each(['[]', '"x"', 'null', '5', '', '{"data":1', '{"data":1,"data":2}'])(
    'that is %j is refused',
    async raw => {
      const id = await createData('1')
      expectProblem(await patchRaw(id, raw), 400)
      expect(await textOf(id)).not.toContain('modified_at')
    },
  )

  // proves A10.24, C6.15
  test.each([
    ['{"containers":[]}', 'containers'],
    ['{"containers":["/a/","/b/"]}', 'containers'],
    ['{"containers":"/canary/"}', 'containers'],
    ['{"containers":["canary"]}', 'containers[0]'],
    ['{"metadata":{"order":["canary"]}}', 'metadata.order'],
    ['{"mask":"{{ data | canary }}"}', 'mask'],
    ['{"mask":5}', 'mask'],
    ['{"search_indexes":["{% canary %}"]}', 'search_indexes[0]'],
    ['{"fingerprint_expression":"{{ canary }}"}', 'fingerprint_expression'],
    ['{"expires_at":"1/1/2020"}', 'expires_at'],
    ['{"deduplicate_token":"canary"}', 'deduplicate_token'],
  ])('%s is refused, and changes nothing', async (raw, path) => {
    const id = await createData('{"a":1}')
    const before = await textOf(id)
    expectProblem(await patchRaw(id, raw), 400, [path])
    expect(await textOf(id)).toBe(before)
  })
})

describe('patches at the same time', () => {
  // proves H63
  test('of 1,000 different members of one token lose none', async () => {
    const id = await createData('{}')
    const names = Array.from({ length: 1_000 }, (_, index) => `k${index}`)
    const answers = await Promise.all(
      names.map(name => patchRaw(id, `{"data":{"${name}":${name.slice(1)}}}`)),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const { body } = await vault.ask('GET', `/tokens/${id}`, { key })
    const expected = Object.fromEntries(names.map((name, index) => [name, index]))
    expect(body['data']).toEqual(expected)
  }, 300_000)

  test('with a delete among them end with the token gone', async () => {
    const deleting = await vault.application({ type: 'private', permissions: ['token:delete'] })
    const id = await createData('{}')
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        index === 30
          ? vault.ask('DELETE', `/tokens/${id}`, { key: deleting })
          : patchRaw(id, `{"data":{"k${index}":1}}`),
      ),
    )
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1)
    for (const { status } of answers) expect([200, 204, 404]).toContain(status)
    expect((await vault.ask('GET', `/tokens/${id}`, { key })).status).toBe(404)
  })
})

// proves E1.9
test('objects that grow beyond their bound together are refused, and lists go on', async () => {
  const own = await openTestVault(421)
  const rules = [
    {
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: ['token:create', 'token:read', 'token:update'],
    },
  ]
  const key = await own.application({ type: 'private', rules })
  const members = (from: number) =>
    Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`m${from + index}`, 0]))
  const body = { id: 'wide', type: 'token', data: members(0), mask: '{{ data.m1 }}' }
  expect((await own.ask('POST', '/tokens', { key, body })).status).toBe(201)
  const more = await own.ask('PATCH', '/tokens/wide', { key, body: { data: members(9_000) } })
  expect([more.status, Object.keys(more.body['errors'] ?? {})]).toEqual([400, ['data']])
  expect((await own.ask('PATCH', '/tokens/wide', { key, body: { data: members(0) } })).status).toBe(
    200,
  )
  const reader = await own.application({ type: 'private', permissions: ['token:read'] })
  expect((await own.ask('GET', '/tokens', { key: reader })).status).toBe(200)
})
