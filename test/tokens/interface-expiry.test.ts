/**
 * Expiry over HTTP: every format, all that ends with it, and the removal from the store. Source:
 * spec, "Token expiration"; contract section 10.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { startServer } from '../../src/server/process/server.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { sweepIntervalMs } from '../../src/limits/work-limits.ts'
import { fakeMachine } from '../support/fake-wall.ts'
import { expectProblem } from '../support/problem.ts'
import { until } from '../support/until.ts'
import { openTestVault, type TestVault } from '../support/vault.ts'

const dayMs = 24 * 60 * 60 * 1_000
const permissions = ['token:create', 'token:read', 'token:update', 'token:search']

async function openParts(seed: number) {
  const vault = await openTestVault(seed)
  const key = await vault.application({ type: 'private', permissions })
  const ask = (method: string, path: string, body?: unknown) =>
    vault.ask(method, path, body === undefined ? { key } : { key, body })
  return { vault, ask }
}

/** The text, the same instant in ISO 8601 with its offset, and in UTC. */
const formats: readonly (readonly [string, string, string?])[] = [
  ['1/2/2030 7:23:57 PM -07:00', '2030-01-02T19:23:57.000-07:00', '2030-01-03T02:23:57Z'],
  ['01/02/2030 12:00:00 AM +05:30', '2030-01-02T00:00:00.000+05:30', '2030-01-01T18:30:00Z'],
  ['1/2/2030 12:30:00 PM', '2030-01-02T12:30:00.000+00:00'],
  ['1/2/2030', '2030-01-02T00:00:00.000+00:00'],
  ['2030-01-02T03:04:05.678+02:00', '2030-01-02T03:04:05.678+02:00', '2030-01-02T01:04:05.678Z'],
  ['2030-01-02T03:04:05', '2030-01-02T03:04:05.000+00:00'],
  ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000+00:00'],
]

describe('an expiry', () => {
  // proves A2.13, A4.3, A4.4, A4.5, A4.6, A10.22, C1.30, C10.1
  test.each(formats)('of %s is %s, at create and at update', async (text, shown, utc = shown) => {
    const { vault, ask } = await openParts(126)
    const token = { type: 'token', data: 1 }
    const made = await ask('POST', '/tokens', { ...token, id: 'made', expires_at: text })
    expect([made.status, made.body['expires_at']]).toEqual([201, shown])
    await ask('POST', '/tokens', { ...token, id: 'patched' })
    const patched = await ask('PATCH', '/tokens/patched', { expires_at: text })
    expect([patched.status, patched.body['expires_at']]).toEqual([200, shown])
    vault.clock.advance(Date.parse(utc) - vault.clock.now() - 1)
    for (const id of ['made', 'patched']) {
      expect((await ask('GET', `/tokens/${id}`)).body['expires_at']).toBe(shown)
    }
    vault.clock.advance(1)
    for (const id of ['made', 'patched']) {
      expectProblem(await ask('GET', `/tokens/${id}`), 404)
    }
  })

  const wrong = ['2/30/2030', '2/29/2030', '13/1/2030', '1/2/2030 13:00:00 PM']
  const past = ['1/1/2030', '12/31/2029', '2029-12-31T23:59:59.999Z', '1/1/2030 1:00:00 AM +14:00']
  const others = ['', 'canary', '2030', '1/2/2030 1:00:00  am', '2030-01-02T25:00:00Z']

  // proves C10.3
  test.each([...wrong, ...past, ...others].map(text => [text]))(
    'of %j is refused, at create and at update',
    async text => {
      const { ask } = await openParts(127)
      const token = { id: 'kept', type: 'token', data: 1 }
      expectProblem(await ask('POST', '/tokens', { ...token, expires_at: text }), 400, [
        'expires_at',
      ])
      expect((await ask('POST', '/tokens', token)).status).toBe(201)
      expectProblem(await ask('PATCH', '/tokens/kept', { expires_at: text }), 400, ['expires_at'])
      expect((await ask('GET', '/tokens/kept')).body).not.toHaveProperty('expires_at')
    },
  )

  // proves A2.13, A3.11, A4.1
  test('that nobody set never comes', async () => {
    const { vault, ask } = await openParts(128)
    const token = { id: 'lasting', type: 'token', data: 1 }
    expect((await ask('POST', '/tokens', token)).body).not.toHaveProperty('expires_at')
    await ask('POST', '/tokens', { ...token, id: 'once brief', expires_at: '1/2/2030' })
    expect((await ask('PATCH', '/tokens/once%20brief', { expires_at: null })).status).toBe(200)
    vault.clock.advance(1_000 * 365 * dayMs)
    expect(await sweep(vault.deps)).toBe(0)
    for (const id of ['lasting', 'once%20brief']) {
      expect((await ask('GET', `/tokens/${id}`)).status).toBe(200)
    }
  })

  // proves C10.4
  test('of a token ends it for searches and references too', async () => {
    const { vault, ask } = await openParts(129)
    const body = { id: 'brief', type: 'token', data: 1, expires_at: '1/2/2030' }
    await ask('POST', '/tokens', body)
    const search = async () =>
      (await ask('POST', '/tokens/search', { query: 'id:brief' })).body['pagination']
    vault.clock.advance(dayMs - 1)
    expect(await search()).toMatchObject({ total_items: 1 })
    vault.clock.advance(1)
    expect(await search()).toMatchObject({ total_items: 0 })
  })

  // proves A9.12, A12.5, C10.6
  test('of an application ends its key, and it is neither read, listed nor changed', async () => {
    const { vault } = await openParts(130)
    const managed = (method: string, path: string, body?: unknown) =>
      vault.ask(method, path, { key: vault.managementKey, ...(body === undefined ? {} : { body }) })
    const body = { name: 'brief', type: 'public', permissions: ['token:create'] }
    const made = await managed('POST', '/applications', { ...body, expires_at: '1/2/2030' })
    expect(made.body['expires_at']).toBe('2030-01-02T00:00:00.000+00:00')
    const path = `/applications/${String(made.body['id'])}`
    const listed = async () =>
      (await managed('GET', '/applications?type=public')).body['pagination']
    vault.clock.advance(dayMs - 1)
    expect((await managed('GET', path)).status).toBe(200)
    expect(await listed()).toMatchObject({ total_items: 1 })
    vault.clock.advance(1)
    const key = String(made.body['key'])
    expectProblem(await vault.ask('POST', '/sessions', { key }), 401, undefined, [key])
    expect(await listed()).toMatchObject({ total_items: 0 })
    const answers = [
      await managed('GET', path),
      await managed('PUT', path, body),
      await managed('POST', `${path}/regenerate`),
      await managed('DELETE', path),
    ]
    for (const answer of answers) expectProblem(answer, 404)
    expect(await sweep(vault.deps)).toBe(1)
    expectProblem(await managed('GET', path), 404)
  })
})

describe('a running service', () => {
  let vault: TestVault
  let ask: Awaited<ReturnType<typeof openParts>>['ask']
  beforeAll(async () => {
    ;({ vault, ask } = await openParts(131))
  })

  const brief = (ms: number) => ({
    type: 'token',
    data: 1,
    expires_at: new Date(vault.clock.now() + ms).toISOString(),
  })
  const due = async () => (await vault.deps.store.due(vault.clock.now(), 10)).length

  const untilRemoved = () => until(async () => (await due()) === 0)

  // proves A4.2, C10.7
  test('removes what is due when it starts, and from then on by itself', async () => {
    await ask('POST', '/tokens', brief(dayMs))
    vault.clock.advance(dayMs)
    expect(await due()).toBe(1)
    const server = await startServer(vault.deps, { host: '127.0.0.1', port: 0 })
    await untilRemoved()
    await ask('POST', '/tokens', brief(dayMs))
    vault.clock.advance(dayMs)
    expect(await due()).toBe(1)
    await untilRemoved()
    expect(sweepIntervalMs).toBeLessThan(60_000)
    await server.stop()
  })

  // proves C10.8
  test('has a clock that never steps back, so that nothing that ended comes back', () => {
    const machine = fakeMachine()
    const clock = machine.start()
    let told = clock.now()
    for (const stepMs of [1_000, -1_000, -dayMs, 2 * dayMs, -2 * dayMs, -machine.right()]) {
      machine.step(stepMs)
      expect(clock.now()).toBeGreaterThanOrEqual(told)
      // A process that starts now knows what was told, but for a jump that nobody should believe.
      expect(machine.start().now()).toBeGreaterThanOrEqual(machine.right())
      machine.pass(1_000)
      told = clock.now()
    }
  })
})
