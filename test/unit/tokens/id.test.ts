import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHmac } from 'node:crypto'
import { makeKeys, type Keys } from '../../../src/crypto/keyring.ts'
import { createKeyring } from '../../../src/crypto/keyring-format.ts'
import { isUuid } from '../../../src/rules/token-ids.ts'
import { defaultTokenId, tokenUnique } from '../../../src/tokens/token-id.ts'
import { seededBytes } from '../../support/seeded.ts'

const keys = makeKeys(createKeyring(seededBytes(1), 0))
const tenant = 'a'

const makerOf = (era: number, of: Keys = keys, seed = 2) => {
  const deps = { keys: of, randomBytes: seededBytes(seed), store: { era: () => era } }
  return () => defaultTokenId(deps as unknown as Parameters<typeof defaultTokenId>[0], tenant)
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const uniqueOf = (id: string, of = keys, tenantId = tenant) => hex(tokenUnique(of, tenantId, id))

/** Makes digests as the keyring does, by node:crypto. */
function digestOf(label: string, text: string): Buffer {
  const { indexKey } = keys.tenant(tenant)
  return createHmac('sha256', indexKey).update(`${label}\0${text.length}:${text}`).digest()
}

describe('an id that nobody chose', () => {
  // proves C7.1
  test('is a UUID of version 4 whose unique carries its era', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.nat(), (era, seed) => {
        const id = makerOf(era, keys, seed)()
        expect(isUuid(id)).toBe(true)
        const unique = tokenUnique(keys, tenant, id)
        expect(unique.length).toBe(32)
        expect(Buffer.from(unique).readUInt32BE(1)).toBe(era)
      }),
    )
  })

  test('and its unique have one layout', () => {
    const id = makerOf(0x01020304)()
    const mask = digestOf('token-id-era', id.slice(0, 28)).readUInt32BE(0)
    const hidden = Buffer.from(id.slice(28), 'hex').readUInt32BE()
    expect((hidden ^ mask) >>> 0).toBe(0x01020304)
    const digest = digestOf('token-id', id)
    const [first, rest] = [digest.subarray(0, 1), digest.subarray(1, 28)]
    expect(uniqueOf(id)).toBe(hex(Buffer.concat([first, Buffer.of(1, 2, 3, 4), rest])))
  })

  test('is never the same twice', () => {
    const make = makerOf(1)
    expect(new Set(Array.from({ length: 100 }, make)).size).toBe(100)
  })

  test.each([0, 2 ** 32 - 1])(
    'shows nothing of its era: bits are set half of the time: %d',
    era => {
      const make = makerOf(era)
      const counts = Array.from({ length: 32 }, () => 0)
      const ids = 2_000
      for (let i = 0; i < ids; i += 1) {
        const hidden = Number.parseInt(make().slice(28), 16)
        counts.forEach((count, bit) => (counts[bit] = count + ((hidden >>> bit) & 1)))
      }
      // Beyond six standard deviations of a fair coin once in 10^9 bits; the seed is fixed.
      for (const count of counts)
        expect(Math.abs(count - ids / 2)).toBeLessThan(6 * Math.sqrt(ids / 4))
    },
  )

  test('tells nothing by those that a caller makes alike but for the era', () => {
    const beginning = makerOf(7)().slice(0, 28)
    const digits = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(8, '0'))
    const uniques = digits.map(end => tokenUnique(keys, tenant, beginning + end))
    expect(new Set(uniques.map(unique => hex(unique.subarray(5)))).size).toBe(256)
    // Some 162 of 256 random bytes differ; the seed is fixed.
    expect(new Set(uniques.map(([first]) => first)).size).toBeGreaterThan(120)
  })

  test('has another unique with any other bit, tenant or key', () => {
    const id = makerOf(7)()
    const others = Array.from({ length: 36 }, (_, at) => {
      const digit = (Number.parseInt(id[at] ?? '', 16) ^ 1).toString(16)
      return id[at] === '-' ? id : id.slice(0, at) + digit + id.slice(at + 1)
    }).filter(other => other !== id)
    expect(others.length).toBe(32)
    const uniques = new Set(others.map(other => uniqueOf(other)))
    expect(uniques.size).toBe(32)
    expect(uniques.has(uniqueOf(id))).toBe(false)
    expect(uniqueOf(id, keys, 'b')).not.toBe(uniqueOf(id))
    expect(uniqueOf(id, makeKeys(createKeyring(seededBytes(3), 0)))).not.toBe(uniqueOf(id))
  })
})

describe('any other id', () => {
  const id = makerOf(7)()

  test.each([
    id.toUpperCase(),
    id.slice(0, 28),
    `${id}0`,
    id.replace(/-4/, '-5'),
    `${id.slice(0, 28)}0000000z`,
  ])('is digested as a whole: %s', text => {
    const { indexKey } = keys.tenant(tenant)
    const input = `token-id\0${text.length}:${text}`
    expect(uniqueOf(text)).toBe(createHmac('sha256', indexKey).update(input).digest('hex'))
  })
})
