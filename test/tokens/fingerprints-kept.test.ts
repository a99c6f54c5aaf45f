/**
 * Fingerprints over the life of an installation: backups, new data keys, a new master key.
 *
 * Clients hold fingerprints, so nothing that is done to keys or files may move them.
 * Source: contract section 8.
 * @module
 */
import { expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { decodeKeyring, encodeKeyring, type Keyring } from '../../src/crypto/keyring-format.ts'
import { keyringUnique, keyringSealer } from '../../src/vault/keyring/live-keyring.ts'
import { unsealRow, sealRow } from '../../src/records/seal-row.ts'
import { temporaryFolder } from '../support/folders.ts'
import { masterKeyOf, openTestVault, reopenTestVault, type TestVault } from '../support/vault.ts'
import { seededBytes } from '../support/seeded.ts'

const permissions = ['token:create', 'token:read']
const rule = { priority: 1, container: '/', transform: 'reveal', permissions }
const token = { type: 'card_number', data: '4242424242424242' }

async function prepare(seed: number) {
  const vault = await openTestVault(seed)
  const key = await vault.application({ type: 'private', rules: [rule] })
  const { body } = await vault.ask('POST', '/tokens', { key, body: { ...token, id: 'kept' } })
  return { vault, key, fingerprint: String(body['fingerprint']) }
}

/** The old token opens, and equal content still has its fingerprint, by which it is found. */
async function expectKept(vault: TestVault, key: string, fingerprint: string): Promise<void> {
  const kept = await vault.ask('GET', '/tokens/kept', { key })
  expect(kept.body).toMatchObject({ data: token.data, fingerprint })
  const again = await vault.ask('POST', '/tokens', { key, body: token })
  expect([again.status, again.body['fingerprint']]).toEqual([201, fingerprint])
  const list = await vault.ask('GET', `/tokens?fingerprint=${fingerprint}`, { key })
  expect(list.body['pagination']).toMatchObject({ total_items: 2 })
  const body = { ...token, deduplicate_token: true }
  expect((await vault.ask('POST', '/tokens', { key, body })).body['id']).toBe('kept')
}

/** Puts another keyring, or the same one under another master key, in the place of the stored. */
async function rewriteKeyring(
  { deps: { store, randomBytes } }: TestVault,
  masterKeys: { readonly from: Uint8Array; readonly to: Uint8Array },
  change: (keyring: Keyring) => Keyring,
): Promise<void> {
  const row = await store.find(keyringUnique)
  if (row === undefined) throw new Error('no keyring')
  const keyring = decodeKeyring(unsealRow(keyringSealer(masterKeys.from), row).value(0))
  const parts = [encodeKeyring(change(keyring))]
  const header = { uniques: row.uniques, terms: row.terms }
  const next = sealRow(keyringSealer(masterKeys.to), randomBytes, header, row.version + 1, parts)
  const replace = { replace: next, ordinal: row.ordinal, ifVersion: row.version }
  expect((await store.write([replace])).ok).toBe(true)
}

/** Adds a data key as a rotation does: it seals new values, older ones stay readable. */
const addDataKey = ({ dataKeys, ...rest }: Keyring): Keyring => ({
  ...rest,
  dataKeys: [
    ...dataKeys.map(entry => ({ ...entry, state: 'readable' as const })),
    { number: dataKeys.length + 1, state: 'current', madeMs: 0, key: seededBytes(9)(32) },
  ],
})

// proves C8.3
test('a fingerprint stays over a copy of the stopped folder that is opened elsewhere', async () => {
  const { vault, key, fingerprint } = await prepare(131)
  await vault.deps.store.close()
  const folder = join(temporaryFolder(), 'restored')
  cpSync(vault.folder, folder, { recursive: true })
  await expectKept(await reopenTestVault({ ...vault, folder }, 131), key, fingerprint)
})

// proves C8.3
test('a fingerprint stays over a new data key, under which new values are sealed', async () => {
  const { vault, key, fingerprint } = await prepare(132)
  const same = masterKeyOf(132)
  await rewriteKeyring(vault, { from: same, to: same }, addDataKey)
  const rotated = await reopenTestVault(vault, 132)
  expect(rotated.deps.keys.tenant(vault.tenantId).currentKeyNumber).toBe(2)
  await expectKept(rotated, key, fingerprint)
})

// proves C8.3
test('a fingerprint stays over a new master key, and the old one opens nothing more', async () => {
  const { vault, key, fingerprint } = await prepare(133)
  const to = masterKeyOf(134)
  await rewriteKeyring(vault, { from: masterKeyOf(133), to }, keyring => keyring)
  const refused = reopenTestVault(vault, 133)
  await expect(refused).rejects.toMatchObject({ kind: 'storage_corrupt' })
  await expectKept(await reopenTestVault(vault, 134), key, fingerprint)
})
