/**
 * Counts the rows of a stopped store without changing anything.
 * @module
 */
import { mapBytes } from '../../../src/limits/operation-limits.ts'
import { open } from 'lmdb'
import { join } from 'node:path'
import { readersMax } from '../../../src/store/core/limits.ts'

/** @param data the data folder of a stopped server */
export async function countRows(data: string): Promise<number> {
  const plain = { encoding: 'binary', keyEncoding: 'binary', cache: false } as const
  const root = open({
    ...plain,
    path: join(data, 'store'),
    readOnly: true,
    noSubdir: false,
    overlappingSync: false,
    maxReaders: readersMax,
    mapSize: mapBytes,
  })
  const { entryCount } = root.openDB({ ...plain, name: 'rows' }).getStats() as {
    entryCount: number
  }
  await root.close()
  return entryCount
}
