/**
 * A limit on requests counts the items of a bulk operation. Contract section 14.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { statusesOf } from '../support/guesses.ts'
import { openTestVault, requestOf } from '../support/vault.ts'

describe('a limit on requests', () => {
  // proves C14.25, E6.6
  test('counts the items of a bulk operation, before anything is done', async () => {
    const vault = await openTestVault(516, { requestsPerSecondMax: 10 })
    const permissions = ['token:create', 'token:use', 'token:read']
    const key = await vault.application({ type: 'private', permissions })
    const bulk = (path: string, count: number) =>
      vault.ask('POST', path, { key, body: Array.from({ length: count }, () => 'value') })
    expect((await bulk('/tokenize', 6)).status).toBe(200)
    const refused = await bulk('/tokenize', 6)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect((await bulk('/detokenize', 6)).status).toBe(429)
    vault.clock.advance(1_000)
    const { body } = await vault.ask('GET', '/tokens', { key })
    expect((body['pagination'] as { total_items: number }).total_items).toBe(6)
    expect((await bulk('/detokenize', 9)).status).toBe(200)
    expect((await bulk('/detokenize', 1)).status).toBe(429)
  })

  // proves C14.25
  test('lets a bulk operation pass that is larger than it, and then waits', async () => {
    const vault = await openTestVault(517, { requestsPerSecondMax: 10 })
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const body = Array.from({ length: 100 }, () => 'value')
    const tokenize = () => vault.ask('POST', '/tokenize', { key, body })
    expect((await tokenize()).status).toBe(200)
    const refused = await tokenize()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
    vault.clock.advance(10_000)
    expect((await tokenize()).status).toBe(200)
  })

  test('counts the items of a repetition too', async () => {
    const vault = await openTestVault(518, { requestsPerSecondMax: 10 })
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' }
    const body = Array.from({ length: 6 }, () => 'value')
    const tokenize = () => vault.ask('POST', '/tokenize', { key, body, headers })
    expect(statusesOf([await tokenize(), await tokenize()])).toEqual([200, 429])
    vault.clock.advance(1_000)
    expect((await tokenize()).headers.get('svc-idempotent-replay')).toBe('true')
  })

  // proves E6.9
  test('counts the items once where another process was faster with the same', async () => {
    const vault = await openTestVault(520, { requestsPerSecondMax: 10 })
    const key = await vault.application({ type: 'private', permissions: ['token:create'] })
    const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' }
    const body = Array.from({ length: 6 }, () => 'value')
    const apps = [buildApp({ ...vault.deps }), buildApp({ ...vault.deps })]
    const answers = await Promise.all(
      apps.map(app => app.handle(requestOf('POST', '/tokenize', { key, body, headers }))),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const replays = answers.filter(answer => answer.headers.has('svc-idempotent-replay'))
    expect(replays).toHaveLength(1)
  })
})
