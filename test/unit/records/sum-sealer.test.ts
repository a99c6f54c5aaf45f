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
import { decodeSum, emptySum, encodeSum, sumAfter } from '../../../src/store/core/row-sum.ts'
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
const sum = encodeSum({ total: random(32), rows: 7, logNext: 2 ** 40 })

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
    let found = emptySum(3)
    let expected = 0n
    for (const [at, each] of rows.entries()) {
      // Each third one is taken away before it came.
      const change = at % 3 === 0 ? { from: each, to: undefined } : { from: undefined, to: each }
      found = sumAfter(found, [change], { share }, at)
      expected += (at % 3 === 0 ? -1n : 1n) * numberOf(share(each))
      expect(numberOf(found.total)).toBe(BigInt.asUintN(256, expected))
    }
    expect([found.rows, found.logNext]).toEqual([42 - 2 * 14, 41])
  })

  test('comes to nothing where a row comes and goes', () => {
    const there = sumAfter(emptySum(0), [{ from: undefined, to: row }], sealer, 0)
    expect(there.rows).toBe(1)
    expect(sumAfter(there, [{ from: row, to: undefined }], sealer, 0)).toEqual(emptySum(0))
  })
})

describe('the sealed sum', () => {
  test('opens as it was, and is the same for the same sum alone', () => {
    const sealed = sealer.seal(sum)
    expect(sealer.open(sealed)).toEqual(Buffer.from(sum))
    expect(hexOf(sealer.seal(sum))).toBe(hexOf(sealed))
    expect(encodeSum(decodeSum(sum))).toEqual(sum)
    const later = encodeSum({ ...decodeSum(sum), logNext: 3 })
    expect(hexOf(sealer.seal(later)).slice(0, 48)).not.toBe(hexOf(sealed).slice(0, 48))
  })

  test('does not open if any bit of it was changed, nor under other keys, nor cut', () => {
    const sealed = sealer.seal(sum)
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
    expect(() => decodeSum(sum.subarray(1))).toThrow('a sum over all rows')
  })

  test('is not made once the keys are wiped', () => {
    const keys = makeKeys(createKeyring(seededBytes(1), 0))
    const wiped = sumSealerOf(keys)
    const sealed = wiped.seal(sum)
    keys.wipe()
    const calls = [() => wiped.share(row), () => wiped.seal(sum), () => wiped.open(sealed)]
    for (const call of calls) expect(call).toThrow('sealed')
  })
})
