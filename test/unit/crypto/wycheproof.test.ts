/**
 * Wycheproof vectors against the shipped path and the fallback (`shared/vectors`).
 * @module
 */
import { expect, test } from 'bun:test'
import { hkdf } from '@noble/hashes/hkdf.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { portable, primitives, type Primitives } from '../../../src/crypto/primitives.ts'
import { describeVectors, readVectors } from '../../support/vectors.ts'

interface Suite<T> {
  readonly numberOfTests: number
  readonly testGroups: readonly { readonly tests: readonly T[] }[]
}

interface AeadCase {
  readonly tcId: number
  readonly key: string
  readonly iv: string
  readonly aad: string
  readonly msg: string
  readonly ct: string
  readonly tag: string
  readonly result: 'valid' | 'invalid' | 'acceptable'
}

const bytes = (hex: string) => Buffer.from(hex, 'hex')

function casesOf<T>(file: string): readonly T[] {
  const [, content] = readVectors('wycheproof').find(([name]) => name === file) ?? []
  const suite = JSON.parse(Buffer.from(content ?? []).toString()) as Suite<T>
  const cases = suite.testGroups.flatMap(group => group.tests)
  expect(cases.length).toBe(suite.numberOfTests)
  return cases
}

function checkAead(use: Primitives): void {
  const cases = casesOf<AeadCase>('xchacha20_poly1305_test.json')
  expect(cases.length).toBe(315)
  for (const { key, iv, aad, msg, ct, tag, result, tcId } of cases) {
    const sealed = Buffer.concat([bytes(ct), bytes(tag)])
    const opened = use.decrypt(bytes(key), bytes(iv), sealed, bytes(aad))
    const stated = result === 'valid' ? msg : undefined
    expect([tcId, opened && Buffer.from(opened).toString('hex')]).toEqual([tcId, stated])
    if (result !== 'valid') continue
    const again = use.encrypt(bytes(key), bytes(iv), bytes(msg), bytes(aad))
    expect(Buffer.from(again).toString('hex')).toBe(ct + tag)
  }
}

interface HkdfCase {
  readonly ikm: string
  readonly salt: string
  readonly info: string
  readonly size: number
  readonly okm: string
  readonly result: string
}

interface MacCase {
  readonly key: string
  readonly msg: string
  readonly tag: string
  readonly result: string
}

describeVectors('Wycheproof', () => {
  // proves S12
  test('all 315 XChaCha20-Poly1305 vectors answer as stated on the native path', () => {
    expect(primitives.name).toBe('native')
    checkAead(primitives)
  })

  // proves S12
  test('all 315 XChaCha20-Poly1305 vectors answer as stated on the portable path', () => {
    checkAead(portable)
  })

  test('all HKDF-SHA256 vectors answer as stated', () => {
    for (const { ikm, salt, info, size, okm, result } of casesOf<HkdfCase>(
      'hkdf_sha256_test.json',
    )) {
      const derive = () => hkdf(sha256, bytes(ikm), bytes(salt), bytes(info), size)
      if (result === 'valid') expect(Buffer.from(derive()).toString('hex')).toBe(okm)
      else expect(derive).toThrow()
    }
  })

  test('all HMAC-SHA256 vectors answer as stated', () => {
    for (const { key, msg, tag, result } of casesOf<MacCase>('hmac_sha256_test.json')) {
      const full = new Bun.CryptoHasher('sha256', bytes(key)).update(bytes(msg)).digest('hex')
      expect(full.startsWith(tag)).toBe(result === 'valid')
    }
  })
})
