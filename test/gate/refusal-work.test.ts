/**
 * Refusals cost the same work whatever the reason, so that their time tells none. Counted, never
 * timed: `scripts/timing.ts` does that. Source: contract section 2; hardening F16, T13.
 * @module
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import { sweep } from '../../src/vault/sweep.ts'
import { openEnvironment, type LmdbTable } from '../../src/store/lmdb/environment.ts'
import { followStore, withIndex, type IndexedEnvironment } from '../../src/store/lmdb/index/tail.ts'
import { findRow } from '../../src/store/lmdb/index/read-rows.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { foldAll } from '../store/fold.ts'
import { inserted, uniqueOf } from '../store/rows.ts'
import { countWork, type Work } from '../support/counting.ts'
import { temporaryFolder } from '../support/folders.ts'
import { openTestVault, requestOf, type Ask, type TestVault } from '../support/vault.ts'

const lifetimeMs = 60_000
const nothing: Work = {
  generation: 0,
  find: 0,
  page: 0,
  write: 0,
  digests: 0,
  opened: 0,
  now: 0,
}

interface Answered {
  readonly status: number
  /** Without the trace id. */
  readonly text: string
  readonly work: Work
}

interface Kit {
  readonly vault: TestVault
  readonly expiresAt: string
  make(body: Readonly<Record<string, unknown>>): Promise<{ id: string; key: string }>
  ask(method: string, path: string, ask?: Ask): Promise<Answered>
}

/** Everything through an application whose store and keys are counted. */
async function openKit(seed: number): Promise<Kit> {
  const vault = await openTestVault(seed)
  const { take, deps } = countWork(vault.deps)
  const { handle } = buildApp(deps)
  const ask: Kit['ask'] = async (method, path, asked = {}) => {
    take()
    const response = await handle(requestOf(method, path, asked))
    const work = take()
    const text = (await response.text()).replace(/urn:trace:[^"]+/, '')
    return { status: response.status, text, work }
  }
  return {
    vault,
    ask,
    expiresAt: new Date(vault.clock.now() + lifetimeMs).toISOString(),
    async make(body) {
      const { text } = await ask('POST', '/applications', {
        key: vault.managementKey,
        body: { name: 'made', type: 'private', permissions: ['token:read'], ...body },
      })
      return JSON.parse(text)
    },
  }
}

const own = '/applications/key'
const randomPart = '1234567890123456789012'

/** Uses a key once while it lives, so that everything about it is cached that can be. */
async function useOnce({ ask }: Kit, key: string): Promise<string> {
  expect((await ask('GET', own, { key })).status).not.toBe(401)
  return key
}

describe('the key of an application', () => {
  let kit: Kit
  let standing: string
  const refused: Record<string, Ask> = {}

  beforeAll(async () => {
    kit = await openKit(161)
    const { make, ask, expiresAt, vault } = kit
    const { managementKey } = vault
    const made = async (body = {}) => {
      const { id, key } = await make(body)
      return { id, key: await useOnce(kit, key) }
    }
    standing = (await made()).key
    const deleted = await made()
    const regenerated = await made()
    const neverUsed = await make({ expires_at: expiresAt })
    const used = await made({ expires_at: expiresAt })
    await ask('DELETE', `/applications/${deleted.id}`, { key: managementKey })
    await ask('POST', `/applications/${regenerated.id}/regenerate`, { key: managementKey })
    await useOnce(kit, used.key)
    vault.clock.advance(lifetimeMs)
    Object.assign(refused, {
      'an unknown key': { key: `key_${randomPart}` },
      'no key': {},
      'an empty key': { key: '' },
      'no key of ours': { key: 'sk1_' + randomPart },
      'the beginning of every key': { key: 'key_' },
      'a live key but for its last character': { key: standing.slice(0, -1) },
      'a deleted application': { key: deleted.key },
      'a key that was regenerated': { key: regenerated.key },
      'an expired application': { key: neverUsed.key },
      'an expired application that was known when it was live': { key: used.key },
    })
  })

  // proves C2.10
  test('is refused with one answer and the same work, whatever the reason', async () => {
    const once: Work = { ...nothing, generation: 1, now: 2, find: 1, digests: 1 }
    const { text } = await kit.ask('GET', own)
    for (const state of ['standing', 'swept']) {
      if (state === 'swept') expect(await sweep(kit.vault.deps)).toBe(2)
      for (const [reason, ask] of Object.entries(refused)) {
        const answered = { reason, state, ...(await kit.ask('GET', own, ask)) }
        expect(answered).toEqual({ reason, state, status: 401, text, work: once })
      }
    }
  })

  test('costs no more than the generation while it is live and known', async () => {
    await useOnce(kit, standing)
    const { status, work } = await kit.ask('GET', '/permissions', { key: standing })
    expect(status).toBe(200)
    expect(work).toEqual({ ...nothing, generation: 1, now: 2 })
  })
})

describe('the key of a session', () => {
  let kit: Kit
  const refused: Record<string, string> = {}
  /** Ids of those that authorized a session, in order. */
  const authorizers: string[] = []

  async function unsealSession(creator: string, more?: object): Promise<string> {
    const { text } = await kit.ask('POST', '/sessions', { key: creator })
    const { session_key: key, nonce } = JSON.parse(text)
    if (more === undefined) return useOnce(kit, key)
    const { key: authorizer, id } = await kit.make({})
    const body = { nonce, permissions: ['token:read'], ...more }
    const { status } = await kit.ask('POST', '/sessions/authorize', { key: authorizer, body })
    expect(status).toBe(200)
    authorizers.push(id)
    return useOnce(kit, key)
  }

  beforeAll(async () => {
    kit = await openKit(162)
    const { make, ask, expiresAt, vault } = kit
    const collects = { type: 'public', permissions: ['token:create'] }
    const [stays, leaves] = [await make(collects), await make(collects)]
    const ends = await make({ ...collects, expires_at: expiresAt })
    const beyond = { expires_at: new Date(vault.clock.now() + 10 * lifetimeMs).toISOString() }
    Object.assign(refused, {
      'an unknown key': `key_sess_${randomPart}`,
      'the beginning of every key': 'key_sess_',
      'an expired session': await unsealSession(stays.key, { expires_at: expiresAt }),
      'the session of a deleted application': await unsealSession(leaves.key, beyond),
      'the session of a deleted application, not authorized': await unsealSession(leaves.key),
      'the session of an expired application': await unsealSession(ends.key, beyond),
    })
    await ask('DELETE', `/applications/${leaves.id}`, { key: vault.managementKey })
    // The steps above ended everything that was cached.
    for (const reason of ['an expired session', 'the session of an expired application']) {
      await useOnce(kit, refused[reason] ?? '')
    }
    vault.clock.advance(lifetimeMs)
  })

  // proves C2.10
  test('is refused with one answer and the same work, whatever the reason', async () => {
    const once: Work = { ...nothing, generation: 1, now: 3, find: 2, digests: 2, opened: 1 }
    const { text } = await kit.ask('GET', own)
    for (const state of ['standing', 'swept']) {
      if (state === 'swept') expect(await sweep(kit.vault.deps)).toBe(2)
      for (const [reason, key] of Object.entries(refused)) {
        const answered = { reason, state, ...(await kit.ask('GET', own, { key })) }
        expect(answered).toEqual({ reason, state, status: 401, text, work: once })
      }
    }
  })

  // proves C2.10
  test('costs a look-up and an opening more where its authorizer is gone', async () => {
    const { ask, make, vault } = kit
    const creator = await make({ type: 'public', permissions: ['token:create'] })
    const key = await unsealSession(creator.key, {})
    await ask('DELETE', `/applications/${authorizers.at(-1)}`, { key: vault.managementKey })
    const { text } = await ask('GET', own)
    // One of the digests is the id of its creator's key, for the log.
    const work: Work = { ...nothing, generation: 1, now: 4, find: 3, digests: 4, opened: 2 }
    expect(await ask('GET', own, { key })).toEqual({ status: 401, text, work })
  })
})

describe('a token', () => {
  const permissions = ['create', 'read', 'update', 'delete', 'use'].map(name => `token:${name}`)
  const ruleOn = (container: string) => ({
    priority: 1,
    container,
    transform: 'reveal',
    permissions,
  })
  const ids = ['absent', 'hidden', 'ended', 'ended-and-hidden']

  function expectAlike(answers: readonly Answered[], status: number): void {
    const once = { find: 1, opened: 1, page: 0, write: 0 }
    for (const answer of answers) {
      expect(answer).toMatchObject({ status, text: answers[0]?.text, work: once })
      expect(answer.work).toEqual(answers[0]?.work ?? nothing)
    }
  }

  let kit: Kit
  let key: string

  beforeAll(async () => {
    kit = await openKit(163)
    const { make, ask, expiresAt, vault } = kit
    const writer = await make({ permissions: [], rules: [ruleOn('/')] })
    key = await useOnce(kit, (await make({ permissions: [], rules: [ruleOn('/seen/')] })).key)
    const token = { type: 'token', data: 'x' }
    for (const body of [
      { ...token, id: 'hidden', containers: ['/hidden/'] },
      { ...token, id: 'ended', containers: ['/seen/'], expires_at: expiresAt },
      { ...token, id: 'ended-and-hidden', containers: ['/hidden/'], expires_at: expiresAt },
    ]) {
      expect((await ask('POST', '/tokens', { key: writer.key, body })).status).toBe(201)
    }
    vault.clock.advance(lifetimeMs)
    // The value that is opened in place of an absent token is sealed once.
    expect((await ask('GET', '/tokens/first', { key })).status).toBe(404)
  })

  // proves C2.14
  test.each([
    ['GET', undefined],
    ['PATCH', { metadata: { colour: 'green' } }],
    ['DELETE', undefined],
  ])('that no rule covers costs a %s what an absent one costs', async (method, body) => {
    const asked = body === undefined ? { key } : { key, body }
    const answers: Answered[] = []
    for (const id of ids) answers.push(await kit.ask(method, `/tokens/${id}`, asked))
    expectAlike(answers, 404)
  })

  // proves C2.14
  test('that no rule covers costs detokenizing what an absent one costs', async () => {
    const answers: Answered[] = []
    for (const id of ids) {
      answers.push(await kit.ask('POST', '/detokenize', { key, body: { card: `{{ ${id} }}` } }))
    }
    expectAlike(answers, 400)
  })
})

/** Wraps a table so that its reads are told. */
const telling = (table: LmdbTable, tell: () => void): LmdbTable =>
  Object.create(table, {
    getBinary: {
      value(key: Uint8Array) {
        tell()
        return table.getBinary(key)
      },
    },
    getBinaryFast: {
      value(key: Uint8Array) {
        tell()
        return table.getBinaryFast(key)
      },
    },
  })

// proves C2.10
test('the store reads as often for a row that is not there, folded or not', async () => {
  const path = temporaryFolder()
  const store = await openLmdbStore({ path })
  for (const unique of [1, 2, 4]) await inserted(store, { uniques: [unique] })
  await store.close()
  await foldAll(path)
  const again = await openLmdbStore({ path })
  await inserted(again, { uniques: [5] })
  await again.close()
  const opened = withIndex(openEnvironment(path))
  const reads = { rows: 0, uniques: 0 }
  const environment: IndexedEnvironment = {
    ...opened,
    rows: telling(opened.rows, () => (reads.rows += 1)),
    uniques: telling(opened.uniques, () => (reads.uniques += 1)),
  }
  followStore(environment)
  const readsOf = (unique: number) => {
    Object.assign(reads, { rows: 0, uniques: 0 })
    return [findRow(environment, uniqueOf(unique), 1) !== undefined, { ...reads }]
  }
  expect(readsOf(2)).toEqual([true, { rows: 1, uniques: 1 }])
  expect(readsOf(5)).toEqual([true, { rows: 1, uniques: 1 }])
  expect(readsOf(3)).toEqual([false, { rows: 1, uniques: 1 }])
  await opened.root.close()
})
