/**
 * Writes of any length after most rows were removed, when the engine has many lists of free pages:
 * why it is told to keep none of them from one transaction to the next.
 * @module
 */
import { expect, test } from 'bun:test'
import { open } from 'lmdb'
import { temporaryFolder } from '../support/folders.ts'

const rows = 400_000
const rowBytes = 400
const removedShare = 0.9
const addedAtOnce = 1_000
const removedAtOnce = 60
const writes = 3_000
const longBytesEnd = 100_000
/** Of the size of a chunk of an index: pages that must lie side by side. */
const chunkBytes = 8_200
const chunks = 11
const seed = 12_345
const mapBytes = 8 * 1024 ** 3
/** Pages: lmdb-js 3.5.6, `env.cpp`. */
const keptByDefault = 75_000

const keyOf = (number: number): Buffer => Buffer.from(String(number).padStart(8, '0'))

/** Marsaglia's xorshift of 32 bits: [0, 1). */
function openRandom(): () => number {
  let state = seed
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** The engine alone, with its own choice of pages. @throws Error when it refuses a commit */
async function removeAndWrite(maxFreeSpaceToRetain: number): Promise<number> {
  const options = { noSubdir: false, encoding: 'binary', keyEncoding: 'binary' } as const
  const engine = { overlappingSync: false, cache: false, mapSize: mapBytes, maxFreeSpaceToRetain }
  const root = open<Uint8Array, Uint8Array>({ ...options, ...engine, path: temporaryFolder() })
  const random = openRandom()
  const commit = (change: () => void): void =>
    root.transactionSync(() => {
      change()
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        root.putSync(keyOf(rows + chunk), Buffer.alloc(chunkBytes))
      }
    })
  for (let from = 0; from < rows; from += addedAtOnce) {
    commit(() => {
      for (let index = from; index < from + addedAtOnce; index += 1) {
        root.putSync(keyOf((index * 7_919) % rows), Buffer.alloc(rowBytes))
      }
    })
  }
  for (let from = 0; from < rows * removedShare; from += removedAtOnce) {
    commit(() => {
      for (let index = from; index < from + removedAtOnce; index += 1) {
        root.removeSync(keyOf((index * 104_729) % rows))
      }
    })
  }
  let written = 0
  for (; written < writes; written += 1) {
    const key = keyOf(Math.floor(random() * rows))
    const more = written % 10 === 0 ? Math.floor(random() * longBytesEnd) : 0
    commit(() => root.putSync(key, Buffer.alloc(rowBytes + more)))
  }
  await root.close()
  return written
}

test('with what the engine keeps by itself a commit is refused', async () => {
  await expect(removeAndWrite(keptByDefault)).rejects.toThrow('zero-size')
})

test('with none that are kept, all is written', async () => {
  expect(await removeAndWrite(0)).toBe(writes)
})
