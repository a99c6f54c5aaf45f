/**
 * Ed25519 against the published vectors.
 */
import { describe, expect, test } from 'bun:test'
import { signatureCheckOf, signingKeyOf } from '../../../src/crypto/ed25519.ts'

const bytes = (hex: string): Uint8Array => Uint8Array.fromHex(hex)

/** RFC 8032 section 7.1, tests 1 to 3. */
const vectors = [
  {
    seed: '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    publicKey: 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    message: '',
    signature:
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155' +
      '5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  },
  {
    seed: '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    publicKey: '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    message: '72',
    signature:
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da' +
      '085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  },
  {
    seed: 'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    publicKey: 'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    message: 'af82',
    signature:
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac' +
      '18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  },
]

describe('Ed25519', () => {
  test.each(vectors)('signs $message as published', ({ seed, publicKey, message, signature }) => {
    const key = signingKeyOf(bytes(seed))
    expect(key.publicKey.toHex()).toBe(publicKey)
    expect(Buffer.from(key.sign(bytes(message))).toString('hex')).toBe(signature)
    expect(signatureCheckOf(bytes(publicKey))(bytes(message), bytes(signature))).toBe(true)
  })

  test.each(vectors)('refuses what is changed: $message', ({ publicKey, message, signature }) => {
    const holds = signatureCheckOf(bytes(publicKey))
    const signed = bytes(signature)
    for (const [at, byte] of signed.entries()) {
      expect(holds(bytes(message), signed.with(at, byte ^ 1))).toBe(false)
    }
    expect(holds(bytes(`${message}00`), signed)).toBe(false)
    expect(holds(bytes(message), signed.subarray(1))).toBe(false)
    expect(holds(bytes(message), new Uint8Array(0))).toBe(false)
    expect(holds(bytes(message), Buffer.concat([signed, new Uint8Array(1)]))).toBe(false)
  })

  test('refuses the same signature written in another way', () => {
    const [{ publicKey = '', message = '', signature = '' } = {}] = vectors
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const signed = bytes(signature)
    const half = BigInt(`0x${signed.slice(32).toReversed().toHex()}`) + order
    const other = Buffer.concat([
      signed.subarray(0, 32),
      bytes(half.toString(16).padStart(64, '0')).toReversed(),
    ])
    expect(signatureCheckOf(bytes(publicKey))(bytes(message), other)).toBe(false)
  })

  test('refuses each signature by bytes that are no point of the curve', () => {
    const holds = signatureCheckOf(new Uint8Array(32).fill(255))
    expect(holds(new Uint8Array(0), new Uint8Array(64))).toBe(false)
  })

  test('leaves the seed as it is, and needs it no longer', () => {
    const seed = bytes(vectors[0]?.seed ?? '')
    const key = signingKeyOf(seed)
    expect(seed.toHex()).toBe(vectors[0]?.seed ?? '')
    seed.fill(0)
    const signature = Buffer.from(key.sign(new Uint8Array(0))).toString('hex')
    expect(signature).toBe(vectors[0]?.signature ?? '')
  })

  test.each([0, 31, 33])('a key of %d bytes is refused', length => {
    expect(() => signingKeyOf(new Uint8Array(length))).toThrow('32 bytes')
    expect(() => signatureCheckOf(new Uint8Array(length))).toThrow('32 bytes')
  })
})
