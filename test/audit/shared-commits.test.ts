/**
 * Entries that no answer waits for are written with the next commit, and have none of their own.
 * @module
 */
import { expect, test } from 'bun:test'
import { openBundle } from '../../src/audit/bundle.ts'
import type { AuditEntry } from '../../src/audit/entry.ts'
import { createKeyring } from '../../src/crypto/keyring-format.ts'
import { makeKeys } from '../../src/crypto/keyring.ts'
import { randomBytes } from '../../src/server/process/system.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { auditLogOf } from '../support/audit-log.ts'
import { temporaryFolder } from '../support/folders.ts'

const entry: AuditEntry = { atMs: 1, operation: 'getToken', entityIds: [], result: 200 }

test('entries that wait land with the next write', async () => {
  const store = await openLmdbStore({ path: temporaryFolder() })
  const keys = makeKeys(createKeyring(randomBytes, 1))
  const audit = auditLogOf({ store, keys, now: () => 1, log: () => {} })
  await store.write([audit.changeOf(entry)])
  for (const write of [
    () => store.write([audit.changeOf(entry)]),
    () => {
      audit.hasten()
      return store.write([{ derived: Uint8Array.of(9), value: Uint8Array.of(1) }])
    },
  ]) {
    const { next } = await store.logRange()
    const commits = store.figures().commits ?? 0
    audit.note(entry)
    audit.note(entry)
    await write()
    expect(store.figures().commits).toBe(commits + 1)
    expect((await store.logRange()).next).toBeGreaterThanOrEqual(next + 2)
  }
  await store.close()
})

test('entries of writes that come together share bundles, and open as they were', async () => {
  const store = await openLmdbStore({ path: temporaryFolder() })
  const keys = makeKeys(createKeyring(randomBytes, 1))
  const audit = auditLogOf({ store, keys, now: () => 1, log: () => {} })
  const entries = Array.from({ length: 20 }, (_, i) => ({ ...entry, entityIds: [`id ${i}`] }))
  await Promise.all(entries.map(each => store.write([audit.changeOf(each)])))
  const bundles = await store.bundles({ from: 0 }, 100)
  const opened = bundles.flatMap(bundle => openBundle(keys, bundle))
  expect(opened.map(({ entry: { entityIds } }) => entityIds)).toEqual(
    entries.map(({ entityIds }) => entityIds),
  )
  expect(bundles.length).toBeLessThan(entries.length / 2)
  await store.close()
})
