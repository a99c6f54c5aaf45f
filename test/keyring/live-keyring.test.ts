/**
 * The keyring of a running process: what others meet while it changes.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { sealRow } from '../../src/records/seal-row.ts'
import {
  keyringSealer,
  keyringUnique,
  keyringValues,
  openKeyring,
} from '../../src/vault/keyring/live-keyring.ts'
import { resealAll } from '../../src/vault/keyring/reseal.ts'
import { rekey, retire, rotate } from '../../src/vault/keyring/rotation.ts'
import { resealBatchRows } from '../../src/limits/operation-limits.ts'
import { openVault, randomBytes } from './vault.ts'

test('writes beside a new key are begun again, and land then', async () => {
  const { holder, insert } = await openVault()
  const [, ...outcomes] = await Promise.all([rotate(holder), insert(), insert()])
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, false])
  expect((await insert()).ok).toBe(true)
})

test('a row sealed before a new key lands under none, however late it is brought', async () => {
  const { store, holder, sealNew, insert } = await openVault()
  const row = sealNew()
  await rotate(holder)
  const refused = { ok: false, at: 0, reason: 'version_moved' } as const
  expect(await store.write([{ insert: row }])).toEqual(refused)
  expect(await store.find(row.uniques[0] ?? new Uint8Array(32))).toBeUndefined()
  expect((await insert()).ok).toBe(true)
})

test('a key is not retired while rows are under it', async () => {
  const { keyring, deps, holder } = await openVault()
  await rotate(holder)
  await expect(retire(holder)).rejects.toThrow('rows are left')
  expect(keyring.current().dataKeys.map(({ number }) => number)).toEqual([1, 2])
  await resealAll(deps)
  expect((await retire(holder)).retired).toMatchObject([{ number: 1 }])
  expect(keyring.current().dataKeys.map(({ number }) => number)).toEqual([2])
})

test('writes beside a new master key are begun again, and land then', async () => {
  const { store, keyring, holder, insert } = await openVault()
  const masterKey = randomBytes(32)
  const [, ...outcomes] = await Promise.all([rekey(holder, masterKey), insert(), insert()])
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, false])
  expect((await insert()).ok).toBe(true)
  expect(keyring.masterNumber()).toBe(1)
  expect((await openKeyring(store, masterKey)).current()).toEqual(keyring.current())
})

test('a new key beside a new master key: both are there', async () => {
  const { store, keyring, holder } = await openVault()
  const masterKey = randomBytes(32)
  await Promise.all([rotate(holder), rekey(holder, masterKey), rotate(holder)])
  expect([keyring.masterNumber(), keyring.keys.installation.currentKeyNumber]).toEqual([1, 3])
  const again = await openKeyring(store, masterKey)
  expect(again.keys.installation.currentKeyNumber).toBe(3)
})

describe('the instant since which a master key counts', () => {
  // proves C19.6
  test('is that of the vault, stays over rotations, and moves by a rekey', async () => {
    const { store, keyring, holder, deps } = await openVault()
    const [{ madeMs } = { madeMs: 0 }] = keyring.current().dataKeys
    expect(keyring.masterSinceMs()).toBe(madeMs)
    const later = { ...holder, now: () => madeMs + 1_000 }
    await rotate(later)
    await resealAll(deps)
    await retire(later)
    expect(keyring.current().dataKeys.map(({ number }) => number)).toEqual([2])
    expect(keyring.masterSinceMs()).toBe(madeMs)
    const masterKey = randomBytes(32)
    await rekey({ ...holder, now: () => madeMs + 2_000 }, masterKey)
    expect(keyring.masterSinceMs()).toBe(madeMs + 2_000)
    expect((await openKeyring(store, masterKey)).masterSinceMs()).toBe(madeMs + 2_000)
  })

  test('is told by the first data key where none was noted, unless it was replaced', async () => {
    const { plain: store, masterKey, keyring } = await openVault()
    const [{ madeMs } = { madeMs: 0 }] = keyring.current().dataKeys
    const seenUnder = async (masterNumber: number) => {
      const row = await store.find(keyringUnique)
      if (row === undefined) throw new Error('no keyring')
      const { uniques, terms, version, ordinal } = row
      const sealer = keyringSealer(masterKey, masterNumber)
      const values = keyringValues(keyring.current(), undefined)
      const replace = sealRow(sealer, randomBytes, { uniques, terms }, version + 1, values)
      await store.write([{ replace, ordinal, ifVersion: version }])
      return (await openKeyring(store, masterKey)).masterSinceMs()
    }
    expect(await seenUnder(0)).toBe(madeMs)
    expect(await seenUnder(1)).toBeUndefined()
  })
})

describe.each([
  ['requests come', 1, 40],
  ['nobody asks', 0, 0],
])('while rows are sealed anew and %s', (_, comingEach, restMs) => {
  test(`the next ones have to wait for ${restMs} ms`, async () => {
    const { deps, holder, insert } = await openVault()
    for (let count = 0; count < resealBatchRows + 1; count += 1) await insert()
    await rotate(holder)
    const rested: number[] = []
    const sleep = async (ms: number) => void rested.push(ms)
    let requests = 0
    const turns = { ...deps.turns, requests: () => (requests += comingEach) }
    let nowMs = 0
    const { rows } = await resealAll({ ...deps, turns, elapsedMs: () => (nowMs += 20), sleep })
    expect(rows).toBeGreaterThan(resealBatchRows)
    expect(new Set(rested)).toEqual(new Set(restMs === 0 ? [] : [restMs]))
  })
})
