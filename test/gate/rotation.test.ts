/**
 * Requests that are under way while keys are rotated, retired and put under another master key.
 * @module
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { withKeyringFence } from '../../src/vault/keyring/fence.ts'
import {
  keyringUnique,
  openKeyring,
  type LiveKeyring,
} from '../../src/vault/keyring/live-keyring.ts'
import { rekey, retire, rotate, type Keyholder } from '../../src/vault/keyring/rotation.ts'
import { resealAll } from '../../src/vault/keyring/reseal.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import type { LmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { seededBytes } from '../support/seeded.ts'
import { masterKeyOf, openTestVault, requestOf, type Ask } from '../support/vault.ts'

let plain: LmdbStore
let holder: Keyholder
let keyring: LiveKeyring
/** Runs once, before the next write that brings a row. */
let meanwhile: (() => Promise<void>) | undefined
let ask: (method: string, path: string, ask: Ask) => Promise<{ status: number; body: unknown }>
let manager: string
let key: string

beforeEach(async () => {
  const vault = await openTestVault()
  plain = vault.deps.store as LmdbStore
  keyring = await openKeyring(plain, masterKeyOf(1))
  const store = withKeyringFence(plain, keyring)
  const delayed: LmdbStore = {
    ...store,
    async write(changes) {
      if (changes.some(change => 'insert' in change || 'replace' in change)) {
        const task = meanwhile
        meanwhile = undefined
        await task?.()
      }
      return store.write(changes)
    },
  }
  const deps = { ...vault.deps, store: delayed, keys: keyring.keys }
  holder = { store, keyring, now: deps.now, randomBytes: seededBytes(7) }
  const app = buildApp(deps)
  ask = async (method, path, asked) => {
    const response = await app.handle(requestOf(method, path, asked))
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  manager = vault.managementKey
  const permissions = ['token:create', 'token:update', 'token:read']
  const rule = { description: '', priority: 1, container: '/', transform: 'reveal', permissions }
  const body = { name: 'app', type: 'private', rules: [rule] }
  const made = await ask('POST', '/applications', { key: manager, body })
  key = (made.body as { key: string }).key
})

const rotating = async (): Promise<void> => void (await rotate(holder))

async function retiring(): Promise<void> {
  await rotate(holder)
  const { store, randomBytes } = holder
  const turns = {
    noteRequest() {},
    requests: () => 0,
    next: async () => {},
    isWaiting: () => false,
    soon: () => undefined,
  }
  await resealAll({ store, keys: keyring.keys, randomBytes, turns, elapsedMs: () => 0 })
  expect((await retire(holder)).retired.length).toBe(1)
}

const token = { type: 'token', data: 'value', id: 'chosen-id' }

describe.each([
  ['rotated', rotating],
  ['rotated and the one before is retired', retiring],
  ['sealed under another master key', () => rekey(holder, masterKeyOf(2))],
] as const)('while the key is %s', (_, change) => {
  test.each([
    ['a token', 'POST', '/tokens', token, 201],
    ['tokens', 'POST', '/tokenize', [token, { type: 'token', data: 'another' }], 200],
  ] as const)('%s is made, once', async (_what, method, path, body, wanted) => {
    const asked = { key, body, headers: { 'SVC-IDEMPOTENCY-KEY': 'once' } }
    meanwhile = change
    const first = await ask(method, path, asked)
    expect(first.status).toBe(wanted)
    expect(meanwhile).toBeUndefined()
    const again = await ask(method, path, asked)
    expect([again.status, again.body]).toEqual([wanted, first.body])
  })

  test('a token is changed, an application is made', async () => {
    expect((await ask('POST', '/tokens', { key, body: token })).status).toBe(201)
    meanwhile = change
    const body = { data: 'other' }
    expect((await ask('PATCH', '/tokens/chosen-id', { key, body })).status).toBe(200)
    expect(await ask('GET', '/tokens/chosen-id', { key })).toMatchObject({ body })
    meanwhile = rotating
    const application = { name: 'next', type: 'public', permissions: ['token:create'] }
    const made = await ask('POST', '/applications', { key: manager, body: application })
    expect(made.status).toBe(201)
  })
})

test('writes beside the commit of another master key all land', async () => {
  const bodies = Array.from({ length: 20 }, (_, i) => ({ type: 'token', data: `value ${i}` }))
  const [, ...made] = await Promise.all([
    rekey(holder, masterKeyOf(2)),
    ...bodies.map(body => ask('POST', '/tokens', { key, body })),
  ])
  expect(made.map(({ status }) => status)).toEqual(bodies.map(() => 201))
  expect(keyring.masterNumber()).toBe(1)
})

test("an older keyring in the newest one's place is refused, and seals nothing", async () => {
  const older = await plain.find(keyringUnique)
  let isBack = false
  const find: LmdbStore['find'] = unique => (isBack ? older : plain.find(unique))
  const swapped = await openKeyring({ ...plain, find }, masterKeyOf(1))
  await rotate({ ...holder, keyring: swapped })
  isBack = true
  expect(() => swapped.refresh()).toThrow('an older keyring')
  expect(swapped.keys.installation.currentKeyNumber).toBe(2)
})
