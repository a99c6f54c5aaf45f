/**
 * Earlier keyrings are overwritten in the files, but not while somebody reads them.
 * @module
 */
import { expect, test } from 'bun:test'
import { resealAll } from '../../src/vault/keyring/reseal.ts'
import { retire, rotate, scrubReplaced } from '../../src/vault/keyring/rotation.ts'
import { openTables, tableNames } from '../../src/store/lmdb/environment.ts'
import { openVault } from './vault.ts'

test('a keyring that is read as of an older commit stays until it was read', async () => {
  const { path, deps, holder } = await openVault()
  const reader = openTables(path, tableNames, true)
  const transaction = reader.root.useReadTransaction()
  const valueOf = () =>
    reader.rows.getRange({ transaction }).map(({ value }) => Buffer.from(value).toString('hex'))
      .asArray
  const before = valueOf()
  await rotate(holder)
  await resealAll(deps)
  expect((await retire(holder)).isScrubbed).toBe(false)
  expect(valueOf()).toEqual(before)
  transaction.done()
  expect(await scrubReplaced(holder)).toBe(true)
  await reader.root.close()
})
