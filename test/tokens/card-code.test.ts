/**
 * The code of a card ends by itself, whatever else becomes of the card. Source: contract section 5.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { equalBytes } from '../../src/lib/bytes.ts'
import { nonceBytes, tagBytes } from '../../src/crypto/primitives.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { stepsOf } from '../../src/vault/keyring/reseal.ts'
import { forgetCodeKeys, obtainCodeKey } from '../../src/tokens/code-key.ts'
import { tokenUnique } from '../../src/tokens/token-id.ts'
import type { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { makeCodeKeyScrubber, startSweeping } from '../../src/vault/upkeep.ts'
import { unsealToken } from '../../src/tokens/token-record.ts'
import { openVaultKeys } from '../../src/vault/vault.ts'
import { until } from '../support/until.ts'
import { masterKeyOf, openTestVault, type TestVault } from '../support/vault.ts'

const hourMs = 60 * 60 * 1_000
const card = {
  number: '4242424242424242',
  expiration_month: 12,
  expiration_year: 2031,
  cvc: '987',
}
const { cvc, ...lasting } = card
const endsAt = '2030-01-02T00:00:00.000+00:00'
const permissions = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:use']
const revealing = (...more: readonly string[]) => ({
  type: 'private',
  rules: [
    {
      description: 'all',
      priority: 1,
      container: '/',
      transform: 'reveal',
      permissions: [...permissions, ...more],
    },
  ],
})

async function openVault(settings: Record<string, unknown> = {}) {
  const vault = await openTestVault(7, settings)
  const key = await vault.application(revealing('token:search'))
  const ask = async (method: string, path: string, sent?: unknown) => {
    const { status, body, text } = await vault.ask(
      method,
      path,
      sent === undefined ? { key } : { key, body: sent },
    )
    return { status, body, text }
  }
  const make = (more: Record<string, unknown> = {}) =>
    ask('POST', '/tokens', { id: 'card', type: 'card', data: card, ...more })
  const rows = async () => {
    let count = 0
    for await (const step of stepsOf(vault.deps.store)) count += step.length
    return count
  }
  return { vault, ask, make, rows }
}

async function openCard({ deps: { keys, store }, tenantId }: TestVault) {
  const row = await store.find(tokenUnique(keys, tenantId, 'card'))
  if (row === undefined) throw new Error('no card')
  return unsealToken(keys, tenantId, row)
}

describe('the code of a card', () => {
  // proves C5.8, C5.9, S69
  test('is shown until its end, which the token tells, and never from then on', async () => {
    const { vault, ask, make } = await openVault()
    const made = await make()
    expect(made.body['_extras']).toEqual({ cvc_expires_at: endsAt })
    expect(made.text).not.toContain(cvc)
    vault.clock.advance(24 * hourMs - 1)
    const before = await ask('GET', '/tokens/card')
    expect(before.text).toContain(`"data":${JSON.stringify(card)}`)
    vault.clock.advance(1)
    const after = await ask('GET', '/tokens/card')
    expect(after.text).toContain(`"data":${JSON.stringify(lasting)}`)
    expect(after.body).toEqual({ ...before.body, data: lasting })
    for (const { text } of [
      await ask('GET', '/tokens'),
      await ask('POST', '/tokens/search', { query: 'type:card' }),
      await ask('POST', '/detokenize', { whole: '{{ card }}' }),
    ]) {
      expect(text).toContain(lasting.number)
      expect(text).not.toContain(cvc)
    }
    const part = await ask('POST', '/detokenize', { code: "{{ card | json: '$.cvc' }}" })
    expect(part.text).not.toContain(cvc)
  })

  test('is shown by lists, searches and expressions until then', async () => {
    const { ask, make } = await openVault()
    await make()
    for (const { text } of [
      await ask('GET', '/tokens'),
      await ask('POST', '/tokens/search', { query: 'type:card' }),
      await ask('POST', '/detokenize', { whole: '{{ card }}' }),
      await ask('POST', '/detokenize', { code: "{{ card | json: '$.cvc' }}" }),
    ]) {
      expect(text).toContain(cvc)
    }
  })

  test.each([
    ['first', { cvc, ...lasting }],
    ['in the middle', { number: card.number, cvc, expiration_year: 2031 }],
    ['last', card],
    ['beside others', { ...lasting, cvc, holder: 'a "b" {c}', deep: { cvc: 'x' } }],
  ])('that stands %s comes back where it stood', async (_, data) => {
    const { vault, ask, make } = await openVault()
    await make({ data })
    expect((await ask('GET', '/tokens/card')).text).toContain(`"data":${JSON.stringify(data)}`)
    vault.clock.advance(24 * hourMs)
    const { cvc: _cvc, ...rest } = data
    expect((await ask('GET', '/tokens/card')).text).toContain(`"data":${JSON.stringify(rest)}`)
  })

  // proves C5.10, S69
  test('leaves the disk once it has ended, and its card stays', async () => {
    const { vault, ask, make, rows } = await openVault()
    const empty = await rows()
    await make()
    expect(await rows()).toBe(empty + 2)
    vault.clock.advance(24 * hourMs - 1)
    expect(await sweep(vault.deps)).toBe(0)
    vault.clock.advance(1)
    expect(await sweep(vault.deps)).toBe(1)
    expect(await rows()).toBe(empty + 1)
    // Not for the clock: what its token still has of it opens no more.
    vault.clock.advance(-1)
    forgetCodeKeys(vault.deps, vault.tenantId)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(lasting)
  })

  // proves S69
  test.skipIf(process.env['COFFER_TEST_STORE'] === 'postgres')(
    'leaves what is free of the file too, and nothing else of it',
    async () => {
      const { vault, ask, make } = await openVault()
      await make()
      const store = vault.deps.store as LmdbStore
      const [row] = await store.due(vault.clock.now() + 25 * hourMs, 1)
      const key = Buffer.from(row?.parts[1] ?? '')
      const file = () => readFileSync(join(vault.folder, 'data.mdb'))
      const scrubber = makeCodeKeyScrubber(vault.deps, sealed => store.scrub(sealed))
      vault.clock.advance(24 * hourMs)
      await sweep(vault.deps, scrubber.hear)
      // The engine leaves it there.
      expect([key.length, file().includes(key)]).toEqual([48, true])
      await scrubber.run()
      expect(file().includes(key.subarray(0, 16))).toBe(false)
      expect((await ask('GET', '/tokens/card')).body['data']).toEqual(lasting)
      expect(await store.integrity()).toEqual([])
    },
  )

  test('leaves the disk in time, also while a look through its file takes long', async () => {
    const { vault, make, rows } = await openVault()
    const looks = Promise.withResolvers<void>()
    const endless = Promise.withResolvers<number>()
    const stop = startSweeping(vault.deps, undefined, () => {
      looks.resolve()
      return endless.promise
    })
    const empty = await rows()
    await make({ expires_at: '2030-01-03T00:00:00Z' })
    vault.clock.advance(48 * hourMs)
    await looks.promise
    await make({ id: 'next', expires_at: '2030-01-05T00:00:00Z' })
    vault.clock.advance(72 * hourMs)
    await until(async () => (await rows()) === empty)
    stop()
    endless.resolve(0)
  })

  // proves C5.10
  test('goes with its card, whether that is deleted or expires', async () => {
    const { vault, ask, make, rows } = await openVault()
    const empty = await rows()
    await make()
    expect((await ask('DELETE', '/tokens/card')).status).toBe(204)
    // The code's own key is left, under which nothing is sealed.
    expect(await rows()).toBe(empty + 1)
    const made = await make({ expires_at: '2030-01-01T01:00:00Z' })
    expect(made.body['_extras']).toEqual({ cvc_expires_at: '2030-01-01T01:00:00.000+00:00' })
    vault.clock.advance(hourMs)
    expect(await sweep(vault.deps)).toBe(2)
    vault.clock.advance(23 * hourMs)
    expect(await sweep(vault.deps)).toBe(1)
    expect(await rows()).toBe(empty)
  })

  // proves C5.9
  test('lasts no longer for a change that does not bring it', async () => {
    const { vault, ask, make, rows } = await openVault()
    await make()
    const count = await rows()
    vault.clock.advance(hourMs)
    const patch = { metadata: { order: '1' }, data: { expiration_month: null, holder: 'A B' } }
    expect((await ask('PATCH', '/tokens/card', patch)).body['_extras']).toEqual({
      cvc_expires_at: endsAt,
    })
    expect(await rows()).toBe(count)
    const { expiration_month: _, ...rest } = card
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual({ ...rest, holder: 'A B' })
    vault.clock.advance(23 * hourMs)
    expect((await ask('GET', '/tokens/card')).text).not.toContain(cvc)
    const later = await ask('PATCH', '/tokens/card', { metadata: { order: '2' } })
    expect(later.body).not.toHaveProperty('_extras')
  })

  test('that a change brings has its own time, and the former one is gone', async () => {
    const { vault, ask, make, rows } = await openVault()
    await make()
    const count = await rows()
    vault.clock.advance(hourMs)
    const { fingerprint } = (await ask('GET', '/tokens/card')).body
    const changed = await ask('PATCH', '/tokens/card', { data: { cvc: '654' } })
    expect(changed.body['_extras']).toEqual({ cvc_expires_at: '2030-01-02T01:00:00.000+00:00' })
    expect(changed.body['fingerprint']).toBe(fingerprint)
    expect(await rows()).toBe(count + 1)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual({ ...card, cvc: '654' })
    expect((await openCard(vault)).record.code?.sealed).toHaveLength(nonceBytes + 12 + tagBytes)
    expect((await ask('PATCH', '/tokens/card', { data: { cvc: null } })).status).toBe(200)
    expect((await openCard(vault)).record.code).toBeUndefined()
    expect((await ask('GET', '/tokens/card')).body).not.toHaveProperty('_extras')
  })

  test('ends with a change of the expiry that comes first', async () => {
    const { vault, ask, make } = await openVault()
    await make()
    const expires = { expires_at: '2030-01-01T02:00:00Z' }
    const changed = await ask('PATCH', '/tokens/card', expires)
    expect(changed.body['_extras']).toEqual({ cvc_expires_at: '2030-01-01T02:00:00.000+00:00' })
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(card)
    vault.clock.advance(2 * hourMs)
    expect(await sweep(vault.deps)).toBe(2)
  })

  // proves C5.8
  test('is found by nothing, while and after it lives', async () => {
    const { ask, make } = await openVault()
    const indexes = { search_indexes: ['{{ data.cvc }}', '{{ data.number }}-{{ data.cvc }}'] }
    expect((await make(indexes)).status).toBe(201)
    for (const query of [`data:${cvc}`, `data:"${card.number}-${cvc}"`]) {
      expect((await ask('POST', '/tokens/search', { query })).text).toContain('"total_items":0')
    }
    const query = `data:"${card.number}-"`
    expect((await ask('POST', '/tokens/search', { query })).text).toContain('"total_items":1')
  })

  // proves E3.9, S69
  test.each(['{{ data.number }}{{ data.cvc }}', '{{ data | stringify }}'])(
    'is in no fingerprint by %s, which a thousand guesses would find it in',
    async expression => {
      const { ask, make } = await openVault()
      const fingerprintOf = async (id: string, data: unknown): Promise<unknown> =>
        (await make({ id, data, fingerprint_expression: expression })).body['fingerprint']
      const fingerprint = await fingerprintOf('card', card)
      expect(fingerprint).toBeString()
      expect(await fingerprintOf('another', { ...card, cvc: '123' })).toBe(fingerprint)
      expect(await fingerprintOf('without', lasting)).toBe(fingerprint)
      const changed = await ask('PATCH', '/tokens/card', { data: { cvc: '654' } })
      expect(changed.body['fingerprint']).toBe(fingerprint)
    },
  )

  // proves E3.9
  test('is nothing to deduplicate by', async () => {
    const { make } = await openVault()
    const refused = await make({
      fingerprint_expression: '{{ data.cvc }}',
      deduplicate_token: true,
    })
    expect(refused.status).toBe(400)
    expect(refused.text).not.toContain(cvc)
  })

  // proves S69
  test('that a mask shows is shown by it no longer', async () => {
    const { vault, ask, make } = await openVault({ maskGuard: false, strictMasks: false })
    await make({ mask: { tail: '{{ data.number | last4 }}', code: '{{ data.cvc }}' } })
    const masking = await vault.application({ type: 'private', permissions })
    const shown = async () =>
      (await vault.ask('GET', '/tokens/card', { key: masking })).body['data']
    expect(await shown()).toEqual({ tail: '4242', code: cvc })
    vault.clock.advance(24 * hourMs)
    expect(await shown()).not.toHaveProperty('code', cvc)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(lasting)
  })

  test('has a lifetime that an operator sets, or none', async () => {
    const brief = await openVault({ cvcLifetime: '1h' })
    expect((await brief.make()).body['_extras']).toEqual({
      cvc_expires_at: '2030-01-01T01:00:00.000+00:00',
    })
    const { vault, ask, make, rows } = await openVault({ cvcLifetime: 'never' })
    const empty = await rows()
    expect((await make()).body).not.toHaveProperty('_extras')
    expect(await rows()).toBe(empty + 1)
    vault.clock.advance(400 * 24 * hourMs)
    await sweep(vault.deps)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(card)
  })

  test('is kept apart in each item of many, and told beside deduplication', async () => {
    const { vault, ask, rows } = await openVault()
    const empty = await rows()
    const item = (data: unknown) => ({ type: 'card', data, deduplicate_token: true })
    const { body } = await ask('POST', '/tokenize', [item(card), item(card), item(lasting)])
    const [first, second] = body as unknown as readonly Record<string, unknown>[]
    expect(first?.['_extras']).toEqual({ deduplicated: false, cvc_expires_at: endsAt })
    expect(second?.['_extras']).toEqual({ deduplicated: true, cvc_expires_at: endsAt })
    expect(await rows()).toBe(empty + 2)
    vault.clock.advance(24 * hourMs)
    expect((await ask('GET', `/tokens/${String(first?.['id'])}`)).body['data']).toEqual(lasting)
  })

  test('has one key with all that end within the same seconds', async () => {
    const { ask, rows } = await openVault()
    const empty = await rows()
    const creates = Array.from({ length: 20 }, () =>
      ask('POST', '/tokens', { type: 'card', data: card }),
    )
    for (const { status } of await Promise.all(creates)) expect(status).toBe(201)
    expect(await rows()).toBe(empty + 20 + 1)
  })

  test('has one key whatever processes make cards at once, and each shows them', async () => {
    const { vault, ask, rows } = await openVault()
    const empty = await rows()
    const others = { ...vault.deps, keys: await openVaultKeys(vault.deps.store, masterKeyOf(7)) }
    const endsAtMs = vault.clock.now() + 24 * hourMs
    const { tenantId } = vault
    const [made, other] = await Promise.all([
      ask('POST', '/tokens', { id: 'card', type: 'card', data: card }),
      obtainCodeKey(others, tenantId, endsAtMs),
    ])
    expect(made.status).toBe(201)
    expect(await rows()).toBe(empty + 1 + 1)
    const own = await obtainCodeKey(vault.deps, tenantId, endsAtMs)
    expect(equalBytes(other.key, own.key)).toBe(true)
    expect(other.stands).toEqual(own.stands)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(card)
  })

  // proves S69
  test('is never written under a key that is not there', async () => {
    const { vault, ask, make, rows } = await openVault()
    await make()
    const count = await rows()
    const { stands } = await obtainCodeKey(vault.deps, vault.tenantId, Date.parse(endsAt))
    await vault.deps.store.write([{ remove: stands.require, ifVersion: stands.ifVersion }])
    const later = { id: 'later', type: 'card', data: card }
    expect((await ask('POST', '/tokens', later)).status).toBe(409)
    expect(await rows()).toBe(count - 1)
    expect((await ask('POST', '/tokens', later)).status).toBe(201)
    expect((await ask('GET', '/tokens/later')).body['data']).toEqual(card)
    expect((await ask('GET', '/tokens/card')).body['data']).toEqual(lasting)
  })
})
