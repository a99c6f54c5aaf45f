/**
 * Replay on a token that others have changed since: it shows as much as its caller may read of it
 * now. Contract section 1.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { canary } from '../support/refusal.ts'
import { addApplication, tokenPermissions } from '../support/sessions.ts'
import { openTestVault, type Answer } from '../support/vault.ts'

const headers = { 'SVC-IDEMPOTENCY-KEY': 'once' }

const pathOf = ({ body }: Answer): string => `/tokens/${String(body['id'])}`

const isReplay = ({ headers: sent }: Answer) => sent.get('svc-idempotent-replay') === 'true'

const expectGone = (answer: Answer) => {
  expect([answer.status, answer.text.includes(canary)]).toEqual([404, false])
}

// proves E7.5
test('a key that only creates is told nothing of what others made of its token', async () => {
  const vault = await openTestVault(420)
  const creator = await vault.application({ type: 'public', permissions: ['token:create'] })
  const rules = [
    { priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions },
  ]
  const owner = await vault.application({ type: 'private', rules })
  const asked = { key: creator, headers, body: { type: 'card_number', data: '4242424242424242' } }
  const first = await vault.ask('POST', '/tokens', asked)
  expect((await vault.ask('POST', '/tokens', asked)).text).toBe(first.text)
  const body = { data: '5555555555554444', metadata: { told: canary } }
  expect((await vault.ask('PATCH', pathOf(first), { key: owner, body })).status).toBe(200)
  const replay = await vault.ask('POST', '/tokens', asked)
  expect([replay.status, isReplay(replay)]).toEqual([201, true])
  expect(replay.body).toEqual({ id: first.body['id'], type: 'card_number' })
})

// proves E7.6
test('a caller who redacts is shown nothing of what others have made of its token', async () => {
  const vault = await openTestVault(421)
  const ruleOf = (transform: string, permissions: readonly string[]) => [
    { priority: 1, container: '/', transform, permissions },
  ]
  const creator = await vault.application({
    type: 'private',
    permissions: ['token:create'],
    rules: ruleOf('redact', ['token:read']),
  })
  const owner = await vault.application({
    type: 'private',
    rules: ruleOf('reveal', tokenPermissions),
  })
  const asked = { key: creator, headers, body: { type: 'card_number', data: '4242424242424242' } }
  const first = await vault.ask('POST', '/tokens', asked)
  expect(first.body['data']).toBe('XXXXXXXXXXXX4242')
  expect((await vault.ask('POST', '/tokens', asked)).text).toBe(first.text)
  const body = { data: '5555555555554444' }
  expect((await vault.ask('PATCH', pathOf(first), { key: owner, body })).status).toBe(200)
  const replay = await vault.ask('POST', '/tokens', asked)
  expect([replay.status, isReplay(replay)]).toEqual([201, true])
  expect(replay.body['id']).toBe(first.body['id'])
  expect(replay.body).not.toHaveProperty('data')
  expect(replay.body).not.toHaveProperty('fingerprint')
})

describe('an equal token', () => {
  async function openEqual(seed: number) {
    const vault = await openTestVault(seed)
    const rules = [
      { priority: 1, container: '/', transform: 'reveal', permissions: tokenPermissions },
    ]
    const owner = await vault.application({ type: 'private', rules })
    const equal = { type: 'token', data: 'equal', deduplicate_token: true }
    const change = (answer: Answer, data: string) =>
      vault.ask('PATCH', pathOf(answer), { key: owner, body: { data } })
    return { vault, owner, equal, change }
  }

  // proves E7.7
  test('that is out of reach by now is 404 on replay', async () => {
    const { vault, owner, equal } = await openEqual(422)
    const permissions = ['token:create', 'token:read']
    const { id, key } = await addApplication(vault, { type: 'private', permissions })
    await vault.ask('POST', '/tokens', { key: owner, body: equal })
    const once = () => vault.ask('POST', '/tokens', { key, headers, body: equal })
    const hit = await once()
    expect(hit.body['_extras']).toEqual({ deduplicated: true })
    expect((await once()).text).toBe(hit.text)
    const narrowed = { name: 'narrowed', permissions: ['token:create'] }
    await vault.ask('PUT', `/applications/${id}`, { key: vault.managementKey, body: narrowed })
    expectGone(await once())
  })

  // proves E7.7
  test('that was changed shows its fingerprint on replay to its readers alone', async () => {
    const { vault, equal, change } = await openEqual(423)
    const key = await vault.application({ type: 'public', permissions: ['token:create'] })
    const first = await vault.ask('POST', '/tokens', { key, body: { ...equal, data: 'other' } })
    // Fingerprint by which it was found, not that of the first version.
    const { fingerprint } = (await change(first, 'equal')).body
    const once = () => vault.ask('POST', '/tokens', { key, headers, body: equal })
    const hit = await once()
    const told = { id: first.body['id'], type: 'token', _extras: { deduplicated: true } }
    expect(hit.body).toEqual({ ...told, fingerprint })
    expect((await once()).text).toBe(hit.text)
    await change(first, 'changed')
    const again = await once()
    expect([again.status, again.body]).toEqual([201, told])
  })
})
