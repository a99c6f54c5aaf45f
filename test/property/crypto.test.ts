/**
 * Laws of sealing, on random keys, places and values: both implementations agree, and a value that
 * was not sealed so for its very place never opens. Hardening T10, T11, C2.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { makeKeys } from '../../src/crypto/keyring.ts'
import { createKeyring } from '../../src/crypto/keyring-format.ts'
import { nonceBytes, portable, primitives } from '../../src/crypto/primitives.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { unsealRow, sealRow, type Collection, type RowSealer } from '../../src/records/seal-row.ts'
import { storedRow } from '../../src/store/core/row.ts'
import type { NewRow } from '../../src/store/contract.ts'
import { seededBytes } from '../support/seeded.ts'

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const key = bytesOf(32)
const nonce = bytesOf(nonceBytes)
const any = fc.uint8Array({ maxLength: 300 })

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

describe('libsodium and noble', () => {
  const both = [primitives, portable] as const

  // proves S12
  test('encrypt to the same bytes and open them alike, whatever is changed', () => {
    expect(primitives.name).toBe('native')
    const change = fc.option(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })))
    fc.assert(
      fc.property(key, nonce, any, any, change, (key, nonce, aad, plaintext, change) => {
        const [sealed, again] = both.map(use => use.encrypt(key, nonce, plaintext, aad))
        if (sealed === undefined) throw new Error('nothing was sealed')
        expect(hex(again)).toBe(hex(sealed))
        const changed = Uint8Array.from(sealed)
        if (change !== null) {
          const at = change[0] % changed.length
          changed[at] = (changed[at] ?? 0) ^ change[1]
        }
        const opened = both.map(use => hex(use.decrypt(key, nonce, changed, aad)))
        const expected = change === null ? hex(plaintext) : undefined
        expect(opened).toEqual([expected, expected])
      }),
      { numRuns: 300 },
    )
  })

  test('encrypt and open a large value alike', () => {
    const random = seededBytes(5)
    const [key, nonce, aad, plaintext] = [32, nonceBytes, 40, 300_000].map(random)
    if (!key || !nonce || !aad || !plaintext) throw new Error('no bytes')
    const [sealed, again] = both.map(use => use.encrypt(key, nonce, plaintext, aad))
    expect(hex(again)).toBe(hex(sealed))
    expect(hex(both[0].decrypt(key, nonce, again ?? aad, aad))).toBe(hex(plaintext))
  })

  test('hash to the same bytes, for every key, input and length', () => {
    const length = fc.integer({ min: 16, max: 64 })
    fc.assert(
      fc.property(key, any, length, (key, input, length) => {
        const [one, other] = both.map(use => hex(use.keyedHash(key, input, Buffer.alloc(length))))
        expect(one).toHaveLength(2 * length)
        expect(other).toBe(one)
      }),
      { numRuns: 300 },
    )
  })
})

const collections: readonly Collection[] = [
  'tenant',
  'application',
  'session',
  'token',
  'idempotency',
]
const keys = makeKeys(createKeyring(seededBytes(8), 0))

const sealer: fc.Arbitrary<RowSealer> = fc.record({
  scope: fc.constantFrom(keys.tenant('a'), keys.tenant('b'), keys.installation),
  collection: fc.constantFrom(...collections),
})

const header = fc
  .record({
    uniques: fc.array(bytesOf(32), { minLength: 1, maxLength: 3 }),
    terms: fc.array(bytesOf(16), { maxLength: 3 }),
    deadlineMs: fc.option(fc.integer({ min: 1, max: 2 ** 40 }), { nil: undefined }),
  })
  .map(({ deadlineMs, ...rest }) => (deadlineMs === undefined ? rest : { ...rest, deadlineMs }))

const values = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 2, maxLength: 3 })

const opensTo = (by: RowSealer, row: NewRow, index: number): string | undefined => {
  try {
    return hex(unsealRow(by, storedRow(1, row)).value(index))
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'storage_corrupt') return undefined
    throw error
  }
}

const isSame = (one: unknown, other: unknown): boolean => Bun.deepEquals(one, other, true)

/** Parts of a value's place: all of it is bound to the value. */
const placeOf = (by: RowSealer, row: NewRow, part: number) => [
  by.scope.name,
  by.collection,
  { ...row, parts: [] },
  part,
]

describe('a sealed value of a row', () => {
  const random = seededBytes(9)
  const version = fc.integer({ min: 1, max: 3 })

  // proves S8
  test('opens in its own place, and in no other', () => {
    const place = fc.tuple(sealer, header, version, fc.nat(2))
    fc.assert(
      fc.property(place, place, values, (own, other, plain) => {
        const [by, header, version, index] = own
        const part = index % plain.length
        const row = sealRow(by, random, header, version, plain)
        expect(opensTo(by, row, part)).toBe(hex(plain[part]))
        const moved = row.parts[part + 1] ?? new Uint8Array()
        const { length } = plain
        const [head = new Uint8Array()] = row.parts
        // Every mixture of the two places: one of them alone is its own.
        for (let mixture = 0; mixture < 16; mixture += 1) {
          const from = (bit: number) => ((mixture >> bit) & 1 ? other : own)
          const target = from(3)[3] % length
          const there: NewRow = {
            ...from(1)[1],
            version: from(2)[2],
            parts: [head, ...Array.from({ length }, () => moved)],
          }
          const opened = opensTo(from(0)[0], there, target)
          const isOwn = isSame(placeOf(from(0)[0], there, target), placeOf(by, row, part))
          expect(opened).toBe(isOwn ? hex(plain[part]) : undefined)
        }
      }),
      { numRuns: 200 },
    )
  })

  // proves S9
  test('does not open with any bit of it, or of its header, turned over', () => {
    fc.assert(
      fc.property(sealer, header, values, fc.nat(), fc.nat(7), (by, header, plain, at, bit) => {
        const row = sealRow(by, random, header, 2, plain)
        const flip = (bytes: Uint8Array): Uint8Array => {
          const copy = Uint8Array.from(bytes)
          copy[at % copy.length] = (copy[at % copy.length] ?? 0) ^ (1 << bit)
          return copy
        }
        const flipFirst = ([first, ...rest]: readonly Uint8Array[]) =>
          first === undefined ? [] : [flip(first), ...rest]
        const damaged: NewRow[] = [
          { ...row, parts: flipFirst(row.parts) },
          { ...row, parts: [...row.parts.slice(0, 1), ...flipFirst(row.parts.slice(1))] },
          { ...row, uniques: flipFirst(row.uniques) },
          { ...row, version: 2 ^ (1 << (2 + bit)) },
          { ...row, deadlineMs: (row.deadlineMs ?? 0) ^ (1 << bit) },
        ]
        if (row.terms.length > 0) damaged.push({ ...row, terms: flipFirst(row.terms) })
        for (const each of damaged) expect(opensTo(by, each, 0)).toBeUndefined()
        expect(opensTo(by, row, 0)).toBe(hex(plain[0]))
      }),
      { numRuns: 300 },
    )
  })
})
