/**
 * Replies that are not repeated, since they were right once and can be wrong later.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { openTestVault } from '../support/vault.ts'

const withKey = (key: string) => ({ 'SVC-IDEMPOTENCY-KEY': key })

describe('a reply is not given again', () => {
  test('where reading is what was asked for', async () => {
    const vault = await openTestVault(139)
    const permissions = ['token:create', 'token:use', 'token:search']
    const rules = (transform: string) => [{ priority: 1, container: '/', transform, permissions }]
    const key = await vault.application({ type: 'private', rules: rules('reveal') })
    await vault.ask('POST', '/tokens', { key, body: { id: 'seen', type: 'token', data: canary } })
    const ask = { key, body: { a: '{{ seen }}' }, headers: withKey('reads') }
    expect((await vault.ask('POST', '/detokenize', ask)).text).toContain(canary)
    const { body } = await vault.ask('GET', '/applications/key', { key })
    const narrowed = { name: 'narrowed', rules: rules('redact') }
    const path = `/applications/${String(body['id'])}`
    await vault.ask('PUT', path, { key: vault.managementKey, body: narrowed })
    const again = await vault.ask('POST', '/detokenize', ask)
    expect([again.status, again.text.includes(canary)]).toEqual([400, false])
  })

  // proves C1.43
  test('to another browser that has the same public key, unless it sends the same', async () => {
    const vault = await openTestVault(141)
    const key = await vault.application({ type: 'public', permissions: ['token:create'] })
    const headers = withKey('order-7')
    const session = () => vault.ask('POST', '/sessions', { key, headers })
    const [one, other] = [await session(), await session()]
    expect([one.status, other.status]).toEqual([201, 201])
    expect(other.body['nonce']).not.toBe(one.body['nonce'])
    const create = (data: string) =>
      vault.ask('POST', '/tokens', {
        key,
        headers,
        body: { type: 'token', data, mask: '{{ data }}' },
      })
    const mine = await create('mine')
    expect((await create('mine')).body['id']).toBe(mine.body['id'])
    const theirs = await create('theirs')
    expect(theirs.status).toBe(409)
    expect(theirs.text).not.toContain('mine')
    expect(theirs.text).not.toContain(String(mine.body['id']))
  })

  // proves C1.43, E15.1
  test.each(['private', 'public'])('for another body: %s', async type => {
    const vault = await openTestVault(142)
    const key = await vault.application({ type, permissions: ['token:create'] })
    const create = (raw: string) =>
      vault.ask('POST', '/tokens', { key, raw, headers: withKey('once') })
    expect((await create('{"type":"token","data":1}')).status).toBe(201)
    for (const raw of ['{"type":"token","data":2}', '{"type":"token","data":[1]}', '[', '']) {
      const { status, body } = await create(raw)
      expect([status, body['detail']]).toEqual([409, 'idempotency key used with another body'])
    }
  })

  // proves C1.44
  test('but is for the same document, however it is written', async () => {
    const vault = await openTestVault(151)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const create = (raw: string) =>
      vault.ask('POST', '/tokens', { key, raw, headers: withKey('once') })
    const made = await create('{"type":"token","data":{"a":[1,2],"b":"\u00e9"},"mask":null}')
    expect(made.status).toBe(201)
    for (const raw of [
      '{"type":"token","data":{"a":[1,2],"b":"\\u00e9"},"mask":null}\n',
      '{ "mask": null, "data": { "b": "\u00e9", "a": [ 1, 2.0 ] }, "type": "token" }',
    ]) {
      const again = await create(raw)
      expect([again.status, again.body['id']]).toEqual([201, made.body['id']])
      expect(again.headers.get('svc-idempotent-replay')).toBe('true')
    }
    for (const raw of [
      '{"type":"token","data":{"a":[2,1],"b":"\u00e9"},"mask":null}',
      '{"type":"token","data":{"a":[1,2],"b":"e\u0301"},"mask":null}',
      '{"type":"token","data":{"a":["1",2],"b":"\u00e9"},"mask":null}',
      '{"type":"token","data":{"a":[1,2],"b":"\u00e9"}}',
      '{"type":"token","data":{"a":[1,2],"a":[1,2],"b":"\u00e9"},"mask":null}',
    ]) {
      expect((await create(raw)).status).toBe(409)
    }
  })

  // proves C1.44
  test('but is for the same long document in another order', async () => {
    const vault = await openTestVault(152)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const members = Array.from({ length: 4_000 }, (_, index) => [`name-${index}`, index])
    const send = (entries: typeof members, space?: number) => {
      const body = { type: 'token', data: Object.fromEntries(entries) as object }
      const raw = JSON.stringify(body, null, space)
      return vault.ask('POST', '/tokens', { key, raw, headers: withKey('long') })
    }
    const made = await send(members)
    const again = await send(members.toReversed(), 2)
    expect([made.status, again.status]).toEqual([201, 201])
    expect(again.body['id']).toBe(made.body['id'])
    expect((await send(members.slice(1))).status).toBe(409)
  })

  // proves C1.48
  test('where it held a secret', async () => {
    const vault = await openTestVault(143)
    const key = vault.managementKey
    const body = { name: 'x', type: 'private', permissions: ['token:create'] }
    const create = () => vault.ask('POST', '/applications', { key, body, headers: withKey('a') })
    const made = await create()
    const secret = String(made.body['key'])
    expect(secret).toStartWith('key_')
    const path = `/applications/${String(made.body['id'])}/regenerate`
    const regenerate = () => vault.ask('POST', path, { key, headers: withKey('a') })
    const fresh = await regenerate()
    expect(fresh.status).toBe(200)
    for (const again of [await create(), await regenerate()]) {
      expect(again.status).toBe(409)
      expect(again.text).not.toContain('key_')
    }
    const { body: all } = await vault.ask('GET', '/applications', { key })
    expect((all['pagination'] as { total_items: number }).total_items).toBe(2)
    const own = await vault.ask('GET', '/applications/key', { key: String(fresh.body['key']) })
    expect(own.status).toBe(200)
  })
})
