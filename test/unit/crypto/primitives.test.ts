import { describe, expect, test } from 'bun:test'
import {
  loadPrimitives,
  portable,
  primitives,
  type Primitives,
} from '../../../src/crypto/primitives.ts'
import { keySlabBytes } from '../../../src/limits/work-limits.ts'
import { seededBytes } from '../../support/seeded.ts'

test('the native one keeps keys in memory that it asks the library for', () => {
  const asked: number[] = []
  const sodium_malloc = (size: number) => (asked.push(size), Buffer.alloc(size))
  const locked: number[] = []
  const sodium_mlock = (memory: Buffer) => {
    locked.push(memory.length)
    if (locked.length > 1) throw new Error('not allowed')
  }
  const fake = loadPrimitives(() => ({ sodium_malloc, sodium_mlock }))
  for (let count = 0; count < 100; count += 1) fake.keep(new Uint8Array(32))
  expect(fake.isLocked()).toBe(true)
  for (let count = 0; count < 100; count += 1) fake.keep(new Uint8Array(32))
  expect([asked, locked]).toEqual([
    [keySlabBytes, keySlabBytes],
    [keySlabBytes, keySlabBytes],
  ])
  expect(fake.isLocked()).toBe(false)
  expect(() => loadPrimitives(() => ({})).keep(new Uint8Array(32))).toThrow()
})

describe('the choice of the implementation', () => {
  test('falls on the native one where it loads', () => {
    expect(primitives.name).toBe('native')
    expect(loadPrimitives(() => require('sodium-native')).name).toBe('native')
  })

  test('falls on the portable one where loading fails, and does not fail itself', () => {
    const fail = () => {
      throw new Error('no build for this platform')
    }
    expect(loadPrimitives(fail)).toBe(portable)
  })
})

const implementations: readonly Primitives[] = [primitives, portable]

describe.each(implementations.map(use => [use.name, use] as const))('%s', (_, use) => {
  const random = seededBytes(11)
  const key = random(32)
  const nonce = random(24)
  const aad = random(9)

  test('opens what it encrypted, of any length from none on', () => {
    for (const length of [0, 1, 15, 16, 17, 100]) {
      const plaintext = random(length)
      const opened = use.decrypt(key, nonce, use.encrypt(key, nonce, plaintext, aad), aad)
      expect(Buffer.from(opened ?? 'nothing')).toEqual(Buffer.from(plaintext))
    }
  })

  test('writes where it is told to, and only what fits there exactly', () => {
    const plaintext = random(20)
    const sealed = Buffer.alloc(36)
    expect(use.encrypt(key, nonce, plaintext, aad, sealed)).toBe(sealed)
    expect(sealed).toEqual(Buffer.from(use.encrypt(key, nonce, plaintext, aad)))
    const opened = Buffer.alloc(20)
    expect(use.decrypt(key, nonce, sealed, aad, opened)).toBe(opened)
    expect(opened).toEqual(Buffer.from(plaintext))
    for (const wrong of [-1, 1]) {
      const elsewhere = Buffer.alloc(36 + wrong)
      expect(() => use.encrypt(key, nonce, plaintext, aad, elsewhere)).toThrow()
      expect(use.decrypt(key, nonce, sealed, aad, Buffer.alloc(20 + wrong))).toBeUndefined()
    }
  })

  test('opens nothing that is shorter than a tag', () => {
    for (const length of [0, 1, 15, 16]) {
      expect(use.decrypt(key, nonce, random(length), aad)).toBeUndefined()
    }
  })

  test('opens nothing under a nonce of another length', () => {
    const sealed = use.encrypt(key, nonce, random(20), aad)
    for (const length of [0, 12, 23, 25, 48]) {
      const other = Buffer.concat([nonce, nonce]).subarray(0, length)
      expect(use.decrypt(key, other, sealed, aad)).toBeUndefined()
    }
  })

  test('takes over a key, apart from all other keys, and wipes what it was given', () => {
    const keys = Array.from({ length: 300 }, () => random(32))
    const expected = keys.map(each => Buffer.from(each))
    const kept = keys.map(each => use.keep(each))
    expect(kept.map(each => Buffer.from(each))).toEqual(expected)
    expect(keys).toEqual(keys.map(() => new Uint8Array(32)))
  })
})

test('the portable one never says that memory is locked', () => {
  expect(portable.isLocked()).toBe(false)
})

test('a passphrase gives the same key by both, another for each salt, cost and passphrase', () => {
  const cost = { passes: 2, memoryBytes: 65_536 }
  const salt = new Uint8Array(16).fill(7)
  const hex = (key: Uint8Array) => Buffer.from(key).toString('hex')
  const keys = [
    [Buffer.from('abc'), salt, cost],
    [Buffer.from('abd'), salt, cost],
    [Buffer.from('abc'), new Uint8Array(16), cost],
    [Buffer.from('abc'), salt, { ...cost, passes: 3 }],
    [Buffer.from('abc'), salt, { ...cost, memoryBytes: 131_072 }],
  ].map(([passphrase, salted, how]) => {
    const words = [passphrase, salted, how] as Parameters<Primitives['stretch']>
    expect(hex(primitives.stretch(...words))).toBe(hex(portable.stretch(...words)))
    return hex(primitives.stretch(...words))
  })
  expect(new Set(keys).size).toBe(5)
  expect(keys[0]).toBe('45b101f4c21cb2f7e4e71cbe2892cd3f67f47b60de58f3eaa86a358c97380ad1')
})
