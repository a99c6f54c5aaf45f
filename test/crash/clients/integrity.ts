/**
 * Integrity of a store once its server has ended.
 * @module
 */
import { join } from 'node:path'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'

/** Rows and indexes that disagree; empty if all agree. @param data the data folder */
export async function findDamage(data: string): Promise<string[]> {
  const store = await openLmdbStore({ path: join(data, 'store') })
  const findings = await store.integrity()
  await store.close()
  return findings.map(({ kind, ordinal }) => `integrity: ${kind} at ${ordinal}`)
}
