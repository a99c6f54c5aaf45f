/**
 * Shares of rows, the arithmetic of their sum, and its seal.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeKeys } from '../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { hexOf } from '../../../src/lib/bytes.ts'
import { sumSealerOf } from '../../../src/records/sum-sealer.ts'
import type { NewRow } from '../../../src/store/contract.ts'
import {
  combineSums,
  emptySum,
  openSum,
  sealSum,
  sumAfter,
  type RowSum,
} from '../../../src/store/core/row-sum.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(7)
const sealerOf = (seed: number) => sumSealerOf(makeKeys(createKeyring(seededBytes(seed), 0)))
const sealer = sealerOf(1)

const row: NewRow = {
  uniques: [random(32), random(32)],
  terms: [],
  version: 1,
  parts: [random(63)],
}
const shareOf = (of: NewRow, by = sealer): string => hexOf(by.share(of))
const sum: RowSum = { total: random(32), rows: 7, entries: 2 ** 40, numbered: 2 ** 40 }
const writer = random(16)
const inserting = (to: NewRow) => ({ rows: [{ from: undefined, to }], entries: 0 })
const removing = (from: NewRow) => ({ rows: [{ from, to: undefined }], entries: 1 })

describe('the share of a row', () => {
  test('is the same for one state of a row, and another for any other, or under other keys', () => {
    const shares = [
      shareOf(row),
      shareOf({ ...row, version: 2 }),
      shareOf({ ...row, uniques: [random(32)] }),
      shareOf({ ...row, parts: [random(63)] }),
      shareOf({ ...row, parts: [] }),
      shareOf({ ...row, parts: [random(5_000)] }),
      shareOf(row, sealerOf(2)),
    ]
    expect(new Set(shares).size).toBe(shares.length)
    expect(shareOf({ ...row, parts: [...row.parts, random(9)] })).toBe(shares[0] ?? '')
  })

  test('is added and subtracted modulo 2^256', () => {
    const ends = [new Uint8Array(32).fill(0xff), Uint8Array.of(...new Uint8Array(31), 1)]
    const shares = [...ends, ...Array.from({ length: 40 }, () => random(32))]
    const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${hexOf(bytes)}`)
    const rows = shares.map((_, at): NewRow => ({ ...row, version: at }))
    const share = ({ version }: NewRow): Uint8Array => shares[version] ?? ends[0] ?? random(32)
    let found = emptySum
    let expected = 0n
    for (const [at, each] of rows.entries()) {
      // Each third one is taken away before it came.
      const change = at % 3 === 0 ? removing(each) : inserting(each)
      found = sumAfter(found, change, { share, entryShare: sealer.entryShare })
      expected += (at % 3 === 0 ? -1n : 1n) * numberOf(share(each))
      expect(numberOf(found.total)).toBe(BigInt.asUintN(256, expected))
    }
    expect([found.rows, found.entries]).toEqual([42 - 2 * 14, 14])
  })

  test('comes to nothing where a row comes and goes', () => {
    const there = sumAfter(emptySum, inserting(row), sealer)
    expect(there.rows).toBe(1)
    expect(sumAfter(there, removing(row), sealer)).toEqual({ ...emptySum, entries: 1 })
  })

  test('is there for entries of the log too, which come and go by their hashes', () => {
    const [leaf, other] = [random(32), random(32)]
    const change = (appended: Uint8Array[], pruned: Uint8Array[] = []) => ({
      rows: [],
      entries: appended.length,
      leaves: { appended, pruned },
    })
    const came = sumAfter(emptySum, change([leaf, other]), sealer)
    expect(came.total).not.toEqual(sumAfter(emptySum, change([leaf, leaf]), sealer).total)
    expect(sumAfter(came, change([], [other, leaf]), sealer)).toEqual({ ...emptySum, entries: 2 })
    expect(hexOf(sealer.entryShare(leaf))).not.toBe(hexOf(sealerOf(2).entryShare(leaf)))
  })

  test('is counted once, whichever writer inserts and removes it', () => {
    const [came, went] = [inserting(row), removing(row)].map(change =>
      sumAfter(emptySum, change, sealer),
    )
    expect(went?.rows).toBe(2 ** 48 - 1)
    const sealed = sealSum(sealer, went ?? emptySum, writer)
    expect(openSum(sealer, sealed, writer)).toEqual(went)
    const both = combineSums(came ?? emptySum, went ?? emptySum, 1)
    expect(both).toEqual({ ...emptySum, entries: 1 })
    expect(combineSums(both, went ?? emptySum, -1)).toEqual(came ?? emptySum)
  })
})

describe('the sealed sum', () => {
  test('opens as it was, and is the same for the same sum alone', () => {
    for (const by of [undefined, writer]) {
      const sealed = sealSum(sealer, sum, by)
      expect(openSum(sealer, sealed, by)).toEqual(sum)
      expect(hexOf(sealSum(sealer, sum, by))).toBe(hexOf(sealed))
      const later = sealSum(sealer, { ...sum, entries: 3 }, by)
      expect(hexOf(later).slice(0, 48)).not.toBe(hexOf(sealed).slice(0, 48))
    }
  })

  test('opens for the writer that it was sealed for, and for no other', () => {
    const sealed = sealSum(sealer, sum, writer)
    for (const other of [undefined, random(16), writer.subarray(1)]) {
      expect(openSum(sealer, sealed, other)).toBeUndefined()
    }
    expect(openSum(sealer, sealSum(sealer, sum), writer)).toBeUndefined()
  })

  test('does not open if any bit of it was changed, nor under other keys, nor cut', () => {
    const sealed = sealSum(sealer, sum)
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Uint8Array.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(sealer.open(changed)).toBeUndefined()
    }
    for (const cut of [0, 1, 23, 24, 39, sealed.length - 1]) {
      expect(sealer.open(sealed.subarray(0, cut))).toBeUndefined()
    }
    expect(sealerOf(2).open(sealed)).toBeUndefined()
  })

  test('is of one length', () => {
    expect(openSum(sealer, sealer.seal(random(43)))).toBeUndefined()
    expect(openSum(sealer, sealer.seal(random(44)))).toBeDefined()
  })

  test('tells how many entries are counted by number, in a part of an earlier coffer all', () => {
    const part = { ...sum, numbered: 5 }
    const sealed = sealSum(sealer, part, writer)
    expect(openSum(sealer, sealed, writer)).toEqual(part)
    const opened = sealer.open(sealed) ?? random(1)
    const earlier = sealer.seal(Buffer.concat([opened.subarray(0, 44), writer]))
    expect(openSum(sealer, earlier, writer)).toEqual(sum)
    // Else the administrator of a database could have it read so under another name.
    expect(openSum(sealer, sealed, opened.subarray(44))).toBeUndefined()
  })

  test('is not made once the keys are wiped', () => {
    const keys = makeKeys(createKeyring(seededBytes(1), 0))
    const wiped = sumSealerOf(keys)
    const sealed = sealSum(wiped, sum)
    keys.wipe()
    const calls = [() => wiped.share(row), () => wiped.seal(random(44)), () => wiped.open(sealed)]
    for (const call of calls) expect(call).toThrow('sealed')
  })
})
