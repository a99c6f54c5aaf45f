/**
 * Replies that are not given again, since what was right to say once can be wrong later.
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

  test('to a credential that was changed since', async () => {
    const vault = await openTestVault(140)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const body = { type: 'token', data: 1 }
    const create = () => vault.ask('POST', '/tokens', { key, body, headers: withKey('changed') })
    const first = await create()
    expect(first.status).toBe(201)
    const own = await vault.ask('GET', '/applications/key', { key })
    const path = `/applications/${String(own.body['id'])}`
    const narrowed = { name: 'narrowed', permissions: ['token:create'] }
    await vault.ask('PUT', path, { key: vault.managementKey, body: narrowed })
    const again = await create()
    expect(again.status).toBe(409)
    expect(again.text).not.toContain(String(first.body['id']))
  })

  test('to another browser that has the same public key', async () => {
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
    expect(theirs.body['id']).not.toBe(mine.body['id'])
    expect(theirs.text).not.toContain('mine')
  })

  test('when it repeats what was sent', async () => {
    const vault = await openTestVault(142)
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const body = [{ type: 'card', data: { number: '4242424242424241', cvc: '123' } }]
    const ask = { key, body, headers: withKey('partial') }
    const first = await vault.ask('POST', '/tokenize?mode=partial', ask)
    expect(first.text).toContain('"retry"')
    const again = await vault.ask('POST', '/tokenize?mode=partial', ask)
    expect([again.status, again.text.includes('4242424242424241')]).toEqual([409, false])
  })
})
