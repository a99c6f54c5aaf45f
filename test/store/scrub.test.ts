/**
 * Overwriting bytes that the engine has left in its file: which bytes, at what cost, and writes to
 * a disk that refuses it.
 * @module
 */
import { expect, test } from 'bun:test'
import { FFIType } from 'bun:ffi'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findInLibc } from '../../src/lib/libc.ts'
import { scrubChunkBytes } from '../../src/limits/operation-limits.ts'
import { openLmdbStore } from '../../src/store/lmdb/lmdb-store.ts'
import { scrub } from '../../src/store/lmdb/maintenance/scrub.ts'
import { temporaryFolder } from '../support/folders.ts'
import { seededBytes } from '../support/seeded.ts'
import { inserted } from './rows.ts'

const pieceBytes = 16
/** Bytes in which no piece stands: a few bytes repeated, which are soon made. */
const filler = (bytes: number): Buffer => Buffer.alloc(bytes, seededBytes(2)(4_099))
const nobodyWrites = async (task: () => void): Promise<void> => task()

function piecesOf(count: number): Uint8Array[] {
  const bytes = seededBytes(1)(count * pieceBytes)
  return Array.from({ length: count }, (_, i) =>
    bytes.subarray(i * pieceBytes, (i + 1) * pieceBytes),
  )
}

test.each([1, 16, 17, 1_024])(
  '%d pieces are overwritten wherever they are, and nothing else',
  async count => {
    const folder = temporaryFolder()
    const path = join(folder, 'data.mdb')
    const pieces = piecesOf(count)
    const rest = filler(2 * scrubChunkBytes + 100)
    // Begins as a piece does, and as two of them: a search by beginnings alone would overwrite it.
    rest.set(pieces[0]?.subarray(0, pieceBytes - 1) ?? [], 1_000)
    const [before, after] = [Buffer.from(rest), Buffer.from(rest)]
    const edges = [0, scrubChunkBytes - 9, scrubChunkBytes + 7, 2 * scrubChunkBytes - 1]
    const places = [...edges, ...pieces.map((_, i) => 2_001 + 33 * i), rest.length - pieceBytes]
    for (const [i, place] of places.entries()) {
      before.set(pieces[i % count] ?? [], place)
      after.fill(0, place, place + pieceBytes)
    }
    writeFileSync(path, before)
    expect(await scrub(folder, pieces, nobodyWrites)).toBeGreaterThanOrEqual(places.length)
    expect(readFileSync(path).equals(after)).toBe(true)
    expect(await scrub(folder, pieces, nobodyWrites)).toBe(0)
  },
)

test('many pieces are no more work than some', async () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'data.mdb'), filler(8 * scrubChunkBytes))
  const workOf = async (count: number): Promise<number> => {
    const pieces = piecesOf(count)
    const took = []
    for (let i = 0; i < 3; i += 1) {
      const begun = process.cpuUsage()
      await scrub(folder, pieces, nobodyWrites)
      const { user, system } = process.cpuUsage(begun)
      took.push(user + system)
    }
    return Math.min(...took)
  }
  // One by one, they would be sixteen times the work.
  expect((await workOf(1_024)) / (await workOf(64))).toBeLessThan(6)
})

const sealable = findInLibc({
  memfd_create: { args: [FFIType.cstring, FFIType.u32], returns: FFIType.i32 },
  fcntl: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
})

/** A file that can be opened to write and takes no write, which has those bytes. */
function refusingFile(bytes: Uint8Array): string {
  const [allowSealing, addSeals, sealWrites] = [2, 1_033, 8]
  const file = sealable?.memfd_create(Buffer.from('refusing\0'), allowSealing) ?? -1
  writeFileSync(file, bytes)
  expect(sealable?.fcntl(file, addSeals, sealWrites)).toBe(0)
  return `/proc/self/fd/${file}`
}

test.skipIf(process.platform !== 'linux')(
  'where the disk refuses that, it is told and writes go on',
  async () => {
    const folder = temporaryFolder()
    const store = await openLmdbStore({ path: folder })
    await inserted(store, { uniques: [1] })
    const piece = piecesOf(1)
    const path = join(folder, 'data.mdb')
    rmSync(path)
    symlinkSync(refusingFile(piece[0] ?? new Uint8Array()), path)
    expect(await store.scrub(piece).catch((error: NodeJS.ErrnoException) => error.code)).toBe(
      'EPERM',
    )
    await inserted(store, { uniques: [2] })
    await store.close()
  },
)
