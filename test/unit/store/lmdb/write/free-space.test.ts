/**
 * The guard before a full disk. Source: hardening L11.
 * @module
 */
import { freeSpaceBytesMin } from '../../../../../src/limits/operation-limits.ts'
import { describe, expect, test } from 'bun:test'
import {
  freeSpaceProbeMs,
  reserveBytesToAddMin,
  reserveBytesToRemoveMin,
} from '../../../../../src/store/core/limits.ts'
import type { Change } from '../../../../../src/store/contract.ts'
import {
  faultOfRoom,
  freeBytesAt,
  makeSpaceGuard,
} from '../../../../../src/store/lmdb/write/disk-reserve.ts'
import { prepareChanges } from '../../../../../src/store/core/prepare-change.ts'
import { temporaryFolder } from '../../../../support/folders.ts'

const row = { uniques: [], terms: [], version: 1, parts: [] }
const adding: readonly Change[] = [{ insert: row }]
const replacing: readonly Change[] = [{ replace: row, ordinal: 1, ifVersion: 1 }]
const removing: readonly Change[] = [
  { require: 1, ifVersion: 1 },
  { remove: 2 },
  { bumpGeneration: true },
]

describe('a write', () => {
  test('that adds is refused below the watermark, and passes at it', () => {
    const isShort = makeSpaceGuard(() => freeSpaceBytesMin - 1)
    for (const changes of [adding, replacing, [...removing, ...adding]]) {
      expect(() => isShort(changes)).toThrow(expect.objectContaining({ kind: 'storage_full' }))
    }
    const hasRoom = makeSpaceGuard(() => freeSpaceBytesMin)
    for (const changes of [adding, replacing]) expect(() => hasRoom(changes)).not.toThrow()
  })

  test('that only removes passes, and asks nobody', () => {
    const guard = makeSpaceGuard(() => {
      throw new Error('asked')
    })
    expect(() => guard(removing)).not.toThrow()
    expect(() => guard([])).not.toThrow()
  })
})

test('the file system is asked once in a while, not for each write', async () => {
  let asked = 0
  const guard = makeSpaceGuard(() => {
    asked += 1
    return freeSpaceBytesMin
  })
  for (let count = 0; count < 100; count += 1) guard(adding)
  expect(asked).toBe(1)
  await Bun.sleep(freeSpaceProbeMs + 50)
  guard(adding)
  expect(asked).toBe(2)
})

test('the free bytes of a folder are those of its file system', () => {
  expect(freeBytesAt(temporaryFolder())()).toBeGreaterThan(0)
  expect(() => freeBytesAt('/absent/folder')()).toThrow('ENOENT')
})

describe('room that the file can grow by', () => {
  const whole = { uniques: [new Uint8Array(32)], terms: [], version: 1, parts: [] }
  const growing = prepareChanges([{ require: 1, ifVersion: 1 }, { insert: whole }])
  const shrinking = prepareChanges([{ remove: 2 }, { bumpGeneration: true }])

  test('is enough for all, for removing, or for nothing', () => {
    expect(faultOfRoom(reserveBytesToAddMin, growing)).toBeUndefined()
    expect(faultOfRoom(reserveBytesToAddMin - 1, growing)?.kind).toBe('storage_full')
    expect(faultOfRoom(reserveBytesToRemoveMin, shrinking)).toBeUndefined()
    expect(faultOfRoom(reserveBytesToRemoveMin - 1, shrinking)?.kind).toBe('storage_full')
  })
})
