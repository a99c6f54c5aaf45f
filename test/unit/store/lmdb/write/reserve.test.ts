/**
 * The reserve of the store's file. Source: hardening L11.
 * @module
 */
import { freeSpaceBytesMin } from '../../../../../src/limits/operation-limits.ts'
import { describe, expect, test } from 'bun:test'
import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
  reserveBytesWanted,
} from '../../../../../src/store/core/limits.ts'
import { openReserve, type Allocate } from '../../../../../src/store/lmdb/write/disk-reserve.ts'
import { temporaryFolder } from '../../../../support/folders.ts'

const plenty = () => Infinity
const blockBytes = 512
const fileBytes = 8_192

function makeFile() {
  const folder = temporaryFolder()
  const file = join(folder, 'data.mdb')
  writeFileSync(file, new Uint8Array(fileBytes))
  return { folder, file }
}

/** A disk with that many bytes left for the reserve, counted from the file's end. */
const diskOf =
  (left: () => number): Allocate =>
  (_, position, length) =>
    position === 0 || length <= left()

describe('the reserve', () => {
  test('takes blocks of the disk, and leaves the length and the bytes of the file', () => {
    const { folder, file } = makeFile()
    const reserve = openReserve(folder, plenty)
    expect(reserve.topUp()).toBe(reserveBytesWanted)
    reserve.close()
    const { size, blocks } = statSync(file)
    expect(size).toBe(fileBytes)
    expect(blocks * blockBytes).toBeGreaterThanOrEqual(reserveBytesWanted)
  })

  test('is used up as the file grows, and filled up when it is low', () => {
    const { folder, file } = makeFile()
    const reserve = openReserve(folder, plenty)
    reserve.topUp()
    truncateSync(file, fileBytes + reserveBytesWanted - reserveBytesToAddMin)
    expect(reserve.topUp()).toBe(reserveBytesToAddMin)
    truncateSync(file, fileBytes + reserveBytesWanted - reserveBytesToAddMin + 1)
    expect(reserve.topUp()).toBe(reserveBytesWanted)
    reserve.close()
  })

  test('takes less where no more is to be had, and keeps what it took', () => {
    const { folder, file } = makeFile()
    let left = reserveBytesToRemoveMin
    const reserve = openReserve(
      folder,
      plenty,
      diskOf(() => left),
    )
    expect(reserve.topUp()).toBe(reserveBytesToRemoveMin)
    left = 0
    truncateSync(file, fileBytes + 100)
    expect(reserve.topUp()).toBe(reserveBytesToRemoveMin - 100)
    truncateSync(file, fileBytes + 2 * reserveBytesToRemoveMin)
    expect(reserve.topUp()).toBe(0)
    left = Infinity
    expect(reserve.topUp()).toBe(reserveBytesWanted)
    reserve.close()
  })

  test('counts as endless where the file system keeps none, but not on a full disk', () => {
    const { folder } = makeFile()
    let free = freeSpaceBytesMin
    const keepsNone: Allocate = () => false
    const reserve = openReserve(folder, () => free, keepsNone)
    expect(reserve.topUp()).toBe(Infinity)
    free = freeSpaceBytesMin - 1
    expect(reserve.topUp()).toBe(reserveBytesToRemoveMin)
    reserve.close()
  })

  test('is asked for again after a call that failed', () => {
    const { folder } = makeFile()
    let calls = 0
    const failsOnce: Allocate = () => (calls += 1) > 1
    const reserve = openReserve(folder, plenty, failsOnce)
    expect(reserve.topUp()).toBe(Infinity)
    expect(reserve.topUp()).toBe(reserveBytesWanted)
    reserve.close()
  })

  test('fills the holes of a file that was copied without its zeros', () => {
    const { folder, file } = makeFile()
    truncateSync(file, 1024 * 1024)
    const reserve = openReserve(folder, plenty)
    reserve.topUp()
    reserve.close()
    const { size, blocks } = statSync(file)
    expect(blocks * blockBytes).toBeGreaterThanOrEqual(size + reserveBytesWanted)
  })

  test('is not there without a file', () => {
    expect(() => openReserve(temporaryFolder(), plenty)).toThrow('ENOENT')
  })
})
