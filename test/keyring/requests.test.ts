/**
 * Requests that are under way while keys are made, taken over and retired: each of their steps may
 * have used the earlier keys.
 * @module
 */
import { expect, test } from 'bun:test'
import { resealAll } from '../../src/vault/keyring/reseal.ts'
import { retire, rotate } from '../../src/vault/keyring/rotation.ts'
import { buildApp } from '../../src/server/listen/app.ts'
import { requestOf, type Ask } from '../support/vault.ts'
import { openVault } from './vault.ts'

type Step = 'glance' | 'page' | 'write'

/** A vault with a token, in which something happens right before or after a step of a request. */
async function openServed() {
  const amid: { step?: Step; task?: () => Promise<unknown> } = {}
  const happen = async (step: Step): Promise<void> => {
    if (amid.step !== step) return
    delete amid.step
    await amid.task?.()
  }
  const vault = await openVault(store => ({
    ...store,
    async glance(unique, parts) {
      const glimpse = await store.glance(unique, parts)
      await happen('glance')
      return glimpse
    },
    async page(query, window) {
      const page = await store.page(query, window)
      await happen('page')
      return page
    },
    async write(changes) {
      await happen('write')
      return store.write(changes)
    },
  }))
  const app = buildApp(vault.deps)
  const ask = async (method: string, path: string, asked: Ask) => {
    const response = await app.handle(requestOf(method, path, asked))
    return { status: response.status, text: await response.text() }
  }
  const permissions = ['create', 'read', 'update', 'search', 'delete'].map(name => `token:${name}`)
  const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions }]
  const application = { name: 'app', type: 'private', rules }
  const made = await ask('POST', '/applications', { key: vault.managementKey, body: application })
  const { key } = JSON.parse(made.text) as { key: string }
  const token = { id: 'a-token', type: 'token', data: 'old', search_indexes: ['{{ data }}'] }
  expect((await ask('POST', '/tokens', { key, body: token })).status).toBe(201)
  const during = (step: Step, task: () => Promise<unknown>, method: string, path: string) => {
    Object.assign(amid, { step, task })
    return (asked: Ask) => ask(method, path, { ...asked, key })
  }
  /** Changes from one key to another one, with nothing left under the first. */
  const change = async () => {
    await rotate(vault.holder)
    await resealAll(vault.deps)
    await retire(vault.holder)
  }
  return { ...vault, during, change }
}

const query = { query: 'data:old' }

test('a create under an idempotency key lands under the key that was made meanwhile', async () => {
  const { during, holder, keyring } = await openServed()
  const create = during('write', () => rotate(holder), 'POST', '/tokens')
  const headers = { 'svc-idempotency-key': 'once' }
  const body = { type: 'token', data: 1 }
  expect((await create({ headers, body })).status).toBe(201)
  expect(keyring.keys.installation.currentKeyNumber).toBe(2)
  expect((await create({ headers, body })).status).toBe(201)
})

test.each<[Step, string, string, Ask, number]>([
  ['glance', 'GET', '/tokens/a-token', {}, 200],
  ['page', 'GET', '/tokens', {}, 200],
  ['page', 'POST', '/tokens/search', { body: query }, 200],
  ['glance', 'PATCH', '/tokens/a-token', { body: { data: 'new' } }, 200],
  ['write', 'PATCH', '/tokens/a-token', { body: { data: 'new' } }, 200],
  ['write', 'POST', '/tokens', { body: { type: 'token', data: 1 } }, 201],
  ['write', 'DELETE', '/tokens/a-token', {}, 204],
])('keys are retired after %s: %s %s', async (step, method, path, asked, status) => {
  const { during, change, keyring } = await openServed()
  const answer = await during(step, change, method, path)(asked)
  expect(keyring.keys.installation.currentKeyNumber).toBe(2)
  expect(answer.status).toBe(status)
  if (method === 'POST' && step === 'page') expect(answer.text).toContain('"total_items":1')
})
