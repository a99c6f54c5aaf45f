/**
 * Remains of an interrupted change of keys in a data folder, before it is opened again.
 * @module
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { keyNumberOf } from '../../../src/crypto/seal.ts'
import { isKeyringRow, keyringUnique } from '../../../src/vault/keyring/live-keyring.ts'
import { openLmdbStore } from '../../../src/store/lmdb/lmdb-store.ts'
import { keyOfHead, nextMasterKeyOf, remember, type Memory } from './keyrings.ts'

export interface Remains {
  /** Rows under an older key. */
  readonly olderRows: number
  /** Number of keys: more than one until the older ones are retired. */
  readonly keys: number
  readonly hasNextMasterKey: boolean
  /** Keyrings that no commit put in place: only their pages were written. */
  readonly uncommitted: number
}

/** @throws Error if no master key so far opens the current keyring */
export async function lookAtRemains(memory: Memory): Promise<Remains> {
  const { data } = memory
  const found = remember(memory)
  const store = await openLmdbStore({ path: join(data, 'store') })
  const row = await store.find(keyringUnique)
  const [head = new Uint8Array()] = row?.parts ?? []
  const standing = found.get(keyOfHead(head))
  if (standing === undefined) throw new Error('the keyring opens under no master key')
  const current = standing.numbers.at(-1)
  const olderRows = [...store.everyRow()].filter(other => {
    const [first] = other.parts
    return !isKeyringRow(other) && first !== undefined && keyNumberOf(first) !== current
  }).length
  await store.close()
  const { version } = standing
  const others = [...found.values()].filter(seen => seen !== standing)
  return {
    olderRows,
    keys: standing.numbers.length,
    hasNextMasterKey: existsSync(nextMasterKeyOf(data)),
    uncommitted: others.filter(seen => seen.version >= version).length,
  }
}
