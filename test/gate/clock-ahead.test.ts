/**
 * A clock that was ahead and is right again: tokens that it hid are not destroyed, and tokens made
 * under it gain no time. Source: hardening T6 and F17, src/server/process/clock.ts.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { openTestVault, requestOf, type Ask } from '../support/vault.ts'

const yearMs = 365 * 24 * 60 * 60 * 1_000
const permissions = ['token:create', 'token:read', 'token:update', 'token:delete']
const rule = { priority: 1, container: '/', transform: 'reveal', permissions }

/** Opens a vault whose clock may be ahead of the settled time. */
async function openJumpyVault(seed: number) {
  const vault = await openTestVault(seed)
  let aheadMs = 0
  const now = () => vault.clock.now() + aheadMs
  let app = buildApp({ ...vault.deps, now })
  const ask = async (method: string, path: string, asked: Ask) => {
    const response = await app.handle(requestOf(method, path, asked))
    const text = await response.text()
    const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
    return { status: response.status, body }
  }
  const key = await vault.application({ type: 'private', rules: [rule] })
  /** Also a restart: within one process the clock never goes back. */
  const jump = (ms: number) => {
    aheadMs = ms
    app = buildApp({ ...vault.deps, now })
  }
  const expires_at = new Date(vault.clock.now() + yearMs).toISOString()
  return { vault, ask, key, jump, expires_at }
}

describe('while the clock is ahead', () => {
  test('a create destroys no token that only looks expired', async () => {
    const { ask, key, jump, expires_at } = await openJumpyVault(161)
    const token = { id: 'kept', type: 'token', data: 'first', expires_at }
    expect((await ask('POST', '/tokens', { key, body: token })).status).toBe(201)
    jump(10 * yearMs)
    expect((await ask('GET', '/tokens/kept', { key })).status).toBe(404)
    const second = { id: 'kept', type: 'token', data: 'second' }
    expect((await ask('POST', '/tokens', { key, body: second })).status).toBe(409)
    jump(0)
    expect((await ask('GET', '/tokens/kept', { key })).body['data']).toBe('first')
  })

  test('neither does a deduplicated create, nor an update', async () => {
    const { ask, key, jump, expires_at } = await openJumpyVault(162)
    const equal = { type: 'token', data: 'equal', deduplicate_token: true }
    const first = await ask('POST', '/tokens', { key, body: { ...equal, id: 'kept', expires_at } })
    const other = { id: 'other', type: 'token', data: 'other', deduplicate_token: true }
    expect([first.status, (await ask('POST', '/tokens', { key, body: other })).status]).toEqual([
      201, 201,
    ])
    jump(10 * yearMs)
    const again = await ask('POST', '/tokens', { key, body: equal })
    expect([again.status, again.body['_extras']]).toEqual([201, { deduplicated: false }])
    const changed = await ask('PATCH', '/tokens/other', { key, body: { data: 'equal' } })
    expect(changed.status).toBe(200)
    jump(0)
    expect((await ask('GET', '/tokens/kept', { key })).body['data']).toBe('equal')
  })

  test('a token that is expired for good makes room', async () => {
    const { vault, ask, key, expires_at } = await openJumpyVault(163)
    const token = { id: 'gone', type: 'token', data: 1, expires_at }
    expect((await ask('POST', '/tokens', { key, body: token })).status).toBe(201)
    vault.clock.advance(yearMs)
    const again = { id: 'gone', type: 'token', data: 2 }
    expect((await ask('POST', '/tokens', { key, body: again })).status).toBe(201)
  })

  test('a request that is sent again is not done twice', async () => {
    const { ask, key, jump } = await openJumpyVault(165)
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' }
    const again = () => ask('POST', '/tokens', { key, headers, body: { type: 'token', data: 1 } })
    const first = await again()
    jump(10 * yearMs)
    expect((await again()).body['id']).toBe(first.body['id'])
    jump(0)
    expect((await again()).body['id']).toBe(first.body['id'])
  })

  // proves C10.10, H114, S72
  test.each([
    ['ten years', 10 * yearMs],
    ['five hours', 5 * 60 * 60 * 1_000],
    ['two minutes', 2 * 60 * 1_000],
  ])('by %s, a session that is made then ends with its clock', async (_, aheadMs) => {
    const { vault, ask, key, jump } = await openJumpyVault(164)
    const publicKey = await vault.application({ type: 'public', permissions: ['token:create'] })
    jump(aheadMs)
    const sessions = [1, 2].map(() => ask('POST', '/sessions', { key: publicKey }))
    const [used, unused] = (await Promise.all(sessions)).map(({ body }) => body)
    const authorize = (nonce: unknown) =>
      ask('POST', '/sessions/authorize', { key, body: { nonce, permissions: ['token:create'] } })
    const create = () =>
      ask('POST', '/tokens', {
        key: String(used?.['session_key']),
        body: { type: 'token', data: 1 },
      })
    expect((await authorize(used?.['nonce'])).status).toBe(200)
    expect((await create()).status).toBe(201)
    jump(0)
    expect((await create()).status).toBe(401)
    expect((await authorize(unused?.['nonce'])).status).toBe(404)
  })
})
