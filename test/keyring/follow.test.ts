/**
 * A vault that shares a database with another one, which rotates the key: each of its reads knows
 * the new one.
 * @module
 */
import { expect, test } from 'bun:test'
import { unsealRow } from '../../src/records/seal-row.ts'
import type { NewRow, Store } from '../../src/store/contract.ts'
import { withKeyringRefresh } from '../../src/vault/keyring/follow.ts'
import { openKeyring } from '../../src/vault/keyring/live-keyring.ts'
import { rotate } from '../../src/vault/keyring/rotation.ts'
import { openVault } from './vault.ts'

const deadlineMs = 1

/** Answers each look-up later, as a database does. */
const asDatabase = <S extends Store>(store: S): S => ({
  ...store,
  find: async unique => store.find(unique),
  glance: async (unique, parts) => store.glance(unique, parts),
})

type Reads = Pick<Store, 'find' | 'glance' | 'page' | 'rowsFrom' | 'due'>

type Made = NewRow & { readonly ordinal: number }

const readBy = {
  find: ({ find }: Reads, { uniques: [unique = new Uint8Array()] }: Made) => find(unique),
  glance: ({ glance }: Reads, { uniques: [unique = new Uint8Array()] }: Made) => glance(unique, 2),
  rowsFrom: async ({ rowsFrom }: Reads, { ordinal }: Made) => (await rowsFrom(ordinal, 1))[0],
  due: async ({ due }: Reads) => (await due(deadlineMs, 1))[0],
  page: async ({ page }: Reads, { terms: [term = new Uint8Array()] }: Made) =>
    (await page({ term }, { offset: 0, limit: 1, nowMs: 0 })).rows[0],
}

test.each(Object.entries(readBy))('a row under a new key is known to %s', async (_, read) => {
  const { plain, masterKey, holder, store, sealNew } = await openVault()
  const shared = asDatabase(plain)
  const keyring = await openKeyring(shared, masterKey)
  const other = withKeyringRefresh(shared, keyring)
  await rotate(holder)
  const made = sealNew({ terms: [new Uint8Array(16).fill(7)], deadlineMs })
  const written = await store.write([{ insert: made }])
  const [ordinal = 0] = written.ok ? written.ordinals : []
  const row = await read(other, { ...made, ordinal })
  const sealer = { scope: keyring.keys.installation, collection: 'tenant' } as const
  expect(row && unsealRow(sealer, row).text(0)).toBe('{}')
})
