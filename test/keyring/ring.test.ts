/**
 * The keyring of a running process: what others meet while it changes.
 * @module
 */
import { expect, test } from 'bun:test'
import { openRing } from '../../src/keyring/ring.ts'
import { rekey, rotate } from '../../src/keyring/rotation.ts'
import { openVault, randomBytes } from './vault.ts'

test('writes beside a new key are begun again, and land then', async () => {
  const { holder, insert } = await openVault()
  const [, ...outcomes] = await Promise.all([rotate(holder), insert(), insert()])
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, false])
  expect((await insert()).ok).toBe(true)
})

test('writes beside a new master key are begun again, and land then', async () => {
  const { store, ring, holder, insert } = await openVault()
  const masterKey = randomBytes(32)
  const [, ...outcomes] = await Promise.all([rekey(holder, masterKey), insert(), insert()])
  expect(outcomes.map(({ ok }) => ok)).toEqual([false, false])
  expect((await insert()).ok).toBe(true)
  expect(ring.masterNumber()).toBe(1)
  expect((await openRing(store, masterKey)).keyring()).toEqual(ring.keyring())
})

test('a new key beside a new master key: both are there', async () => {
  const { store, ring, holder } = await openVault()
  const masterKey = randomBytes(32)
  await Promise.all([rotate(holder), rekey(holder, masterKey), rotate(holder)])
  expect([ring.masterNumber(), ring.keys.installation.currentKeyNumber]).toEqual([1, 3])
  const again = await openRing(store, masterKey)
  expect(again.keys.installation.currentKeyNumber).toBe(3)
})
