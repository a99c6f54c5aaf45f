import { describe, expect, test } from 'bun:test'
import { portable, primitives, type Primitives } from '../../../src/crypto/primitives.ts'
import { open, unsealAll, seal, sealAll, sealOverheadBytes } from '../../../src/crypto/seal.ts'
import { ApiError } from '../../../src/lib/errors.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(7)
const key = random(32)
const keyOf = () => key
const aad = random(60)
const plaintext = Buffer.from('4242424242424242')

const implementations: readonly Primitives[] = [primitives, portable]

test('the native implementation is what runs here', () => {
  expect(primitives.name).toBe('native')
})

describe.each(implementations.map(use => [use.name, use] as const))('sealing, %s', (_, use) => {
  const sealed = () => seal({ number: 3, key }, aad, random(24), plaintext, use)

  test('opens what it sealed', () => {
    expect(Buffer.from(open(keyOf, aad, sealed(), use))).toEqual(plaintext)
  })

  test('adds a constant number of bytes and shows no plaintext', () => {
    expect(sealed().length).toBe(plaintext.length + sealOverheadBytes)
    expect(Buffer.from(sealed()).includes(plaintext)).toBe(false)
  })

  test('gives different bytes each time', () => {
    expect(sealed()).not.toEqual(sealed())
  })

  // proves S9
  test('refuses every value with one flipped bit', () => {
    const value = sealed()
    for (let at = 0; at < value.length; at += 1) {
      const damaged = Uint8Array.from(value)
      damaged[at] = (damaged[at] ?? 0) ^ 0x10
      expect(() => open(keyOf, aad, damaged, use)).toThrow(ApiError)
    }
  })

  test('refuses every value that is cut short', () => {
    const value = sealed()
    for (let length = 0; length < value.length; length += 1) {
      expect(() => open(keyOf, aad, value.subarray(0, length), use)).toThrow('did not open')
    }
  })

  test('refuses another place and another key', () => {
    expect(() => open(keyOf, random(60), sealed(), use)).toThrow('did not open')
    expect(() => open(() => random(32), aad, sealed(), use)).toThrow('did not open')
  })

  /** A value of any format and algorithm whose commitment and tag are right. */
  const sealAs = (format: number, algorithm: number): Uint8Array => {
    const nonce = random(24)
    nonce[23] = 0
    const header = Buffer.from([format, algorithm, 0, 0, 0, 3, 1])
    const derived = use.keyedHash(key, Buffer.concat([header, nonce, aad]), Buffer.alloc(64))
    const body = use.encrypt(derived.subarray(0, 32), nonce, plaintext)
    return Buffer.concat([header, nonce, derived.subarray(32), body])
  }

  test('refuses another format and another algorithm, even where all else is right', () => {
    expect(Buffer.from(open(keyOf, aad, sealAs(2, 1), use))).toEqual(plaintext)
    for (const value of [sealAs(0, 1), sealAs(1, 1), sealAs(3, 1), sealAs(2, 0), sealAs(2, 2)]) {
      expect(() => open(keyOf, aad, value, use)).toThrow('did not open')
    }
  })

  test('commits to key and place with 32 bytes', () => {
    expect(sealOverheadBytes).toBe(1 + 1 + 4 + 1 + 24 + 32 + 16)
  })

  test('asks for the key of the number that the value names', () => {
    const asked: number[] = []
    open(number => (asked.push(number), key), aad, sealed(), use)
    expect(asked).toEqual([3])
  })

  test('refuses a nonce of another length', () => {
    expect(() => seal({ number: 1, key }, aad, random(12), plaintext, use)).toThrow(RangeError)
  })
})

test('one of several values is none alone', () => {
  const place = { number: 1, key }
  const [head, ...values] = sealAll(place, [aad], random(24), [plaintext, plaintext])
  if (head === undefined) throw new Error('nothing was sealed')
  expect(unsealAll(keyOf, [aad], head).count).toBe(2)
  for (const value of values) {
    expect(() => open(keyOf, aad, Buffer.concat([head, value]))).toThrow('did not open')
  }
  const alone = seal(place, aad, random(24), plaintext)
  expect(Buffer.from(open(keyOf, aad, alone))).toEqual(plaintext)
})

test('a head of another length is none', () => {
  const [head = new Uint8Array()] = sealAll({ number: 1, key }, [aad], random(24), [plaintext])
  expect(unsealAll(keyOf, [aad], head).count).toBe(1)
  for (const other of [head.subarray(0, -1), Buffer.concat([head, new Uint8Array(1)])]) {
    expect(() => unsealAll(keyOf, [aad], other)).toThrow('did not open')
  }
})

test('both implementations compute the same bytes', () => {
  for (let length = 0; length < 300; length += 7) {
    const nonce = random(24)
    const input = random(length)
    const [first, second] = implementations.map(use =>
      seal({ number: 1, key }, aad, nonce, input, use),
    )
    expect(Buffer.from(first ?? [])).toEqual(Buffer.from(second ?? []))
    expect(Buffer.from(open(keyOf, aad, first ?? input, portable))).toEqual(Buffer.from(input))
  }
})
