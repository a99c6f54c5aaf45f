/**
 * Deduplication on create. Source: contract section 8; hardening H101, H144, H160.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sweep } from '../../src/vault/sweep.ts'
import { expectProblem } from '../support/problem.ts'
import { openTestVault, type Answer, type TestVault } from '../support/vault.ts'

const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']

let vault: TestVault
let plain: string
let revealing: string

beforeAll(async () => {
  vault = await openTestVault(41)
  plain = await vault.application({ type: 'private', permissions })
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  revealing = await vault.application({ type: 'private', rules })
})

const create = (body: object, key = plain) =>
  vault.ask('POST', '/tokens', { key, body: { type: 'token', ...body } })
const createOnce = (body: object, key = plain) => create({ deduplicate_token: true, ...body }, key)
const idOf = ({ status, body }: Answer): string => {
  expect(status).toBe(201)
  return String(body['id'])
}
const totalOf = async (fingerprint: unknown): Promise<unknown> => {
  const path = `/tokens?fingerprint=${String(fingerprint)}`
  const { body } = await vault.ask('GET', path, { key: plain })
  return (body['pagination'] as { total_items: number }).total_items
}

describe('a create that deduplicates', () => {
  // proves C8.17
  test('makes a token when there is no equal one, and says so', async () => {
    const answer = await createOnce({ data: 'new one' })
    expect(answer.status).toBe(201)
    expect(answer.body['_extras']).toEqual({ deduplicated: false })
    expect((await create({ data: 'unasked' })).body).not.toHaveProperty('_extras')
    const declined = await createOnce({ data: 'declined', deduplicate_token: false })
    expect(declined.body).not.toHaveProperty('_extras')
  })

  // proves A3.10, C3.4, C8.7
  test('gives the equal token unchanged, and makes nothing', async () => {
    const first = await create({
      data: 'same',
      mask: '{{ data | reveal_last: 1 }}',
      metadata: { a: '1' },
      id: 'the first',
    })
    const second = await createOnce({ data: 'same', metadata: { b: '2' }, id: 'the second' })
    expect(second.status).toBe(201)
    expect(second.body).toEqual({ ...first.body, _extras: { deduplicated: true } })
    expect(second.headers.get('location')).toBe('/tokens/the%20first')
    expect((await vault.ask('GET', '/tokens/the%20second', { key: plain })).status).toBe(404)
    expect(await totalOf(first.body['fingerprint'])).toBe(1)
  })

  // proves C8.8
  test('goes by the fingerprint: by its expression, and by the type', async () => {
    const expression = '{{ data.email | downcase }}'
    const person = { data: { email: 'A@B.C', n: 1 }, fingerprint_expression: expression }
    const id = idOf(await createOnce(person))
    expect(idOf(await createOnce({ ...person, data: { email: 'a@b.c', n: 2 } }))).toBe(id)
    expect(idOf(await createOnce({ ...person, data: { email: 'a@b.d', n: 1 } }))).not.toBe(id)
    const digits = '4242424242424242'
    const asCard = await createOnce({ type: 'card_number', data: digits })
    expect((await createOnce({ data: digits })).body['id']).not.toBe(idOf(asCard))
  })

  // proves A3.10
  test('leaves alone tokens that are created without it', async () => {
    const id = idOf(await createOnce({ data: 'twice' }))
    const second = await create({ data: 'twice' })
    expect(idOf(second)).not.toBe(id)
    expect(await totalOf(second.body['fingerprint'])).toBe(2)
  })

  test('gives the oldest of several equal tokens, whatever came later', async () => {
    const ids = [idOf(await create({ data: 'several' })), idOf(await create({ data: 'several' }))]
    expect(idOf(await createOnce({ data: 'several' }))).toBe(String(ids[0]))
    await vault.ask('DELETE', `/tokens/${ids[0]}`, { key: plain })
    expect(idOf(await createOnce({ data: 'several' }))).toBe(String(ids[1]))
    await vault.ask('DELETE', `/tokens/${ids[1]}`, { key: plain })
    expect(ids).not.toContain(idOf(await createOnce({ data: 'several' })))
  })

  // proves C8.8
  test('does not go beyond its tenant', async () => {
    const id = idOf(await createOnce({ data: 'per tenant' }))
    const other = await openTestVault(42)
    const key = await other.application({ type: 'private', permissions })
    const body = { type: 'token', data: 'per tenant', deduplicate_token: true }
    const answer = await other.ask('POST', '/tokens', { key, body })
    expect(answer.body['_extras']).toEqual({ deduplicated: false })
    expect(answer.body['id']).not.toBe(id)
  })

  // proves C8.8
  test('takes a new token when the equal one has expired, swept or not', async () => {
    const brief = { data: 'brief', expires_at: '2030-01-01T00:01:00Z' }
    const own = await openTestVault(43)
    const key = await own.application({ type: 'private', permissions })
    const ask = (body: object) =>
      own.ask('POST', '/tokens', { key, body: { type: 'token', deduplicate_token: true, ...body } })
    const id = idOf(await ask(brief))
    own.clock.advance(59_999)
    expect(idOf(await ask(brief))).toBe(id)
    own.clock.advance(1)
    const next = await ask({ data: 'brief' })
    expect(next.body['_extras']).toEqual({ deduplicated: false })
    expect(next.body['id']).not.toBe(id)
    // The expired holder left before the write.
    expect(await sweep(own.deps)).toBe(0)
    expect(idOf(await ask({ data: 'brief' }))).toBe(String(next.body['id']))
  })

  const nothing: readonly (readonly [string, object])[] = [
    ['null', { data: { a: 1 }, fingerprint_expression: '{{ data.canary }}' }],
    ['an empty text', { data: '' }],
    ['no text at all', { data: 'a', fingerprint_expression: '' }],
    ['a constant', { data: 'a', fingerprint_expression: 'canary' }],
    ['a constant in braces', { data: 'a', fingerprint_expression: "{{ 'canary' | upcase }}" }],
  ]

  // proves C8.5, H101
  test.each(nothing)('is refused when the fingerprint is of %s', async (_, body) => {
    expectProblem(await createOnce(body), 400, ['fingerprint_expression'], ['CANARY'])
    expect((await create(body)).status).toBe(201)
  })

  test('is refused for any other fault, equal token or not', async () => {
    await create({ data: 'faulty' })
    expectProblem(await createOnce({ data: 'faulty', id: 'canary/' }), 400, ['id'])
    const path = 'deduplicate_token'
    expectProblem(await create({ data: 'faulty', deduplicate_token: 'canary' }), 400, [path])
  })

  // proves C8.14, H160
  test('gives one token to 50 creates at the same time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => createOnce({ data: 'raced' })),
    )
    expect(new Set(answers.map(idOf)).size).toBe(1)
    const fresh = answers.filter(({ text }) => text.includes('"deduplicated":false'))
    expect(fresh).toHaveLength(1)
    expect(await totalOf(answers[0]?.body['fingerprint'])).toBe(1)
  })

  test('decides right when the value is deleted and made again all the time', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, count) => {
        if (count % 3 > 0) return createOnce({ data: 'churned' })
        const { body } = await createOnce({ data: 'churned' })
        return vault.ask('DELETE', `/tokens/${String(body['id'])}`, { key: plain })
      }),
    )
    for (const { status } of answers) expect([201, 204, 404]).toContain(status)
    const last = await createOnce({ data: 'churned' })
    expect(await totalOf(last.body['fingerprint'])).toBe(1)
  })
})

const rule = (container: string, transform: string, held: readonly string[], priority = 1) => ({
  priority,
  container,
  transform,
  permissions: held,
})

describe('a duplicate shows', () => {
  const secret = 'ssn canary 77'
  let original: Answer

  beforeAll(async () => {
    original = await create({
      data: secret,
      mask: '{{ data | reveal_last: 2 }}',
      metadata: { owner: 'canary-owner' },
      search_indexes: ['{{ data }}'],
      expires_at: '1/1/2031',
    })
  })

  /** Makes an application that created the original itself, and the answer that it must get. */
  const creator = async (grants: object) => {
    const key = await vault.application({ type: 'public', ...grants })
    const data = `${secret} of ${key.slice(-4)}`
    const own = await create({ data, metadata: { owner: 'canary-owner' } }, key)
    const { id, type, fingerprint } = own.body
    return { key, data, told: { id, type, fingerprint, _extras: { deduplicated: true } } }
  }

  // proves C8.12, E15.2
  test('the parts that the caller may read, but never beyond the mask', async () => {
    for (const key of [plain, revealing]) {
      const { body, text } = await createOnce({ data: secret }, key)
      expect(body).toMatchObject({ data: 'XXXXXXXXXXX77', metadata: { owner: 'canary-owner' } })
      expect(text).not.toContain(secret)
    }
  })

  // proves C8.12, E4.2
  test('no code that this request did not send, to a caller who reveals', async () => {
    const card = { type: 'card', data: { number: '5555555555554444', cvc: '9087' } }
    // Three digits may stand by chance in a fingerprint, or in an id that nobody chose.
    await create({ id: 'card-with-code', ...card }, revealing)
    const known = { ...card, data: { number: '5555555555554444' } }
    const answer = await createOnce(known, revealing)
    const cvc_expires_at = expect.stringMatching(/^2030-01-02T/)
    expect(answer.body['_extras']).toEqual({ deduplicated: true, cvc_expires_at })
    expect(answer.text).not.toContain('9087')
  })

  // proves C8.13, H144
  test('id, type and fingerprint alone to its creator who may not read', async () => {
    const { key, data, told } = await creator({ permissions: ['token:create'] })
    const answer = await createOnce({ data, metadata: { mine: 'x' } }, key)
    expect([answer.status, answer.body]).toEqual([201, told])
  })

  // proves C8.13
  test('id and type alone to a creator whose rule redacts', async () => {
    const { key, data, told } = await creator({ rules: [rule('/', 'redact', ['token:create'])] })
    const answer = await createOnce({ data }, key)
    const { id, type, _extras } = told
    expect([answer.status, answer.body]).toEqual([201, { id, type, _extras }])
  })

  // proves C8.12
  test('neither data nor fingerprint where the rule redacts', async () => {
    const rules = [rule('/', 'redact', ['token:create', 'token:read'])]
    const key = await vault.application({ type: 'private', rules })
    const { body } = await createOnce({ data: secret }, key)
    expect(body['id']).toBe(String(original.body['id']))
    expect(Object.keys(body)).not.toContain('data')
    expect(Object.keys(body)).not.toContain('fingerprint')
  })

  test('nothing to a caller who may not create there', async () => {
    const rules = [rule('/a/', 'mask', ['token:create', 'token:read'])]
    const key = await vault.application({ type: 'private', rules })
    const answer = await createOnce({ data: secret, containers: ['/b/'] }, key)
    expectProblem(answer, 403, undefined, [String(original.body['id'])])
  })
})
