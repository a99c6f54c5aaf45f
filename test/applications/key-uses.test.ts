/**
 * The day on which a key was used last.
 *
 * Source: contract section 15.
 * @module
 */
import { expect, test } from 'bun:test'
import { buildApp } from '../../src/server/listen/app.ts'
import type { Deps } from '../../src/deps.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { addApplication } from '../support/sessions.ts'
import { openTestVault, requestOf, type TestVault } from '../support/vault.ts'

const dayMs = 24 * 60 * 60 * 1_000

/** An application over the store of a vault, whose writes are counted and can be made to fail. */
function openCounted(vault: TestVault) {
  const counted = { writes: 0, fails: false }
  const write: Deps['store']['write'] = async changes => {
    if (counted.fails) throw new ApiError('storage_full', 'The storage is full.')
    counted.writes += 1
    return vault.deps.store.write(changes)
  }
  const app = buildApp({ ...vault.deps, store: { ...vault.deps.store, write } })
  const statusOf = async (key: string) =>
    (await app.handle(requestOf('GET', '/tokens', { key }))).status
  return { app, counted, statusOf }
}

const uses = async (vault: TestVault, id: string) => {
  const answer = await vault.ask('GET', `/applications/${id}/keys`, { key: vault.managementKey })
  const keys = answer.body as unknown as { version: string; last_used_on?: string }[]
  return Object.fromEntries(keys.map(key => [key.version, key.last_used_on]))
}

const backend = { type: 'private', permissions: ['token:read'] }

// proves C15.13
test('is written once a day for each key, beside the requests', async () => {
  const vault = await openTestVault(650)
  const { id, key } = await addApplication(vault, backend)
  const path = `/applications/${id}/keys`
  const made = await vault.ask('POST', path, { key: vault.managementKey })
  const second = String(made.body['key'])
  const { app, counted, statusOf } = openCounted(vault)
  const useAndWrite = async (...keys: readonly string[]) => {
    for (const each of keys) expect(await statusOf(each)).toBe(200)
    const before = counted.writes
    await app.writeKeyUses()
    return counted.writes - before
  }
  expect(await useAndWrite()).toBe(0)
  expect(await uses(vault, id)).toEqual({ 1: undefined, 2: undefined })
  expect(await useAndWrite(key, key, second, key)).toBe(1)
  expect(await uses(vault, id)).toEqual({ 1: '2030-01-01', 2: '2030-01-01' })
  vault.clock.advance(dayMs - 1)
  expect(await useAndWrite(key, second)).toBe(0)
  vault.clock.advance(1)
  expect(await useAndWrite(key, key)).toBe(1)
  expect(await useAndWrite(key)).toBe(0)
  expect(await uses(vault, id)).toEqual({ 1: '2030-01-02', 2: '2030-01-01' })
  expect(counted.writes).toBe(2)
})

// proves C15.13
test('is written by one of two processes, and moves nothing else of the application', async () => {
  const vault = await openTestVault(651)
  const { id, key } = await addApplication(vault, backend)
  const ask = { key: vault.managementKey }
  const before = (await vault.ask('GET', `/applications/${id}`, ask)).body
  const both = [openCounted(vault), openCounted(vault)]
  for (const { statusOf } of both) expect(await statusOf(key)).toBe(200)
  for (const { app } of both) await app.writeKeyUses()
  expect(both.map(({ counted }) => counted.writes)).toEqual([1, 0])
  for (const { statusOf } of both) expect(await statusOf(key)).toBe(200)
  for (const { app } of both) await app.writeKeyUses()
  expect(both.map(({ counted }) => counted.writes)).toEqual([1, 0])
  expect((await vault.ask('GET', `/applications/${id}`, ask)).body).toEqual(before)
})

// proves C15.13
test('is written later where the storage is full, and no request fails by it', async () => {
  const vault = await openTestVault(652)
  const { id, key } = await addApplication(vault, backend)
  const { app, counted, statusOf } = openCounted(vault)
  counted.fails = true
  expect(await statusOf(key)).toBe(200)
  await expect(app.writeKeyUses()).rejects.toThrow(ApiError)
  expect(await statusOf(key)).toBe(200)
  counted.fails = false
  await app.writeKeyUses()
  expect(await uses(vault, id)).toEqual({ 1: '2030-01-01' })
})

// proves C15.13
test('is not noted of a key that is refused, or of an application that is gone', async () => {
  const vault = await openTestVault(653)
  const { id, key } = await addApplication(vault, backend)
  const { app, counted, statusOf } = openCounted(vault)
  expect(await statusOf(`${key}x`)).toBe(401)
  expect(await statusOf(key)).toBe(200)
  await vault.ask('DELETE', `/applications/${id}`, { key: vault.managementKey })
  await app.writeKeyUses()
  expect(counted.writes).toBe(0)
})
