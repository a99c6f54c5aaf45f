/**
 * Reading chunks of ordinals from the tables of terms and deadlines.
 *
 * Every iterator is drained or returned: an open one holds a reader slot (hardening L13).
 * @module
 */
import type { RangeOptions } from 'lmdb'
import { chunkRange, decodeChunkKey, encodeChunkKey } from './chunk-key.ts'
import { decodeContainer } from './container-codec.ts'
import { emptySet, type Container } from './container.ts'
import type { Table } from '../environment.ts'

export interface Chunk {
  readonly prefix: Uint8Array
  readonly chunk: number
  readonly set: Container
}

/** The empty set when there is none. @throws ApiError `storage_corrupt` */
export function readChunk(table: Table, prefix: Uint8Array, chunk: number): Container {
  const value = table.getBinary(encodeChunkKey(prefix, chunk))
  return value === undefined ? emptySet : decodeContainer(value)
}

/** The numbers of all chunks of a prefix, ascending; `undefined` when there are more than `max`. */
export function listChunks(table: Table, prefix: Uint8Array, max: number): number[] | undefined {
  const chunks: number[] = []
  for (const key of table.getKeys({ ...chunkRange(prefix), limit: max + 1 })) {
    chunks.push(decodeChunkKey(key).chunk)
  }
  return chunks.length > max ? undefined : chunks
}

/** Chunks in the order of their keys. @throws ApiError `storage_corrupt` */
export function* walkChunks(table: Table, range: RangeOptions): Generator<Chunk> {
  for (const { key, value } of table.getRange(range)) {
    yield { ...decodeChunkKey(key), set: decodeContainer(value) }
  }
}
