import { describe, expect, test } from 'bun:test'
import { xchacha20poly1305 } from '@noble/ciphers/chacha.js'
import { sealChunk, unsealChunk } from '../../../src/crypto/chunk-seal.ts'

const key = new Uint8Array(32).fill(7)
const head = Buffer.from('the head')
const chunk = Buffer.from('a chunk')
const sealed = sealChunk(key, head, 258, false, chunk)

describe('a sealed chunk', () => {
  test('is XChaCha20-Poly1305 under a nonce of its number and of whether it is the last', () => {
    const nonce = Buffer.alloc(24)
    nonce.writeUInt32BE(258, 19)
    expect(xchacha20poly1305(key, nonce, head).encrypt(chunk)).toEqual(Uint8Array.from(sealed))
    nonce[23] = 1
    const last = sealChunk(key, head, 258, true, chunk)
    expect(xchacha20poly1305(key, nonce, head).encrypt(chunk)).toEqual(Uint8Array.from(last))
  })

  test('opens where it was sealed, also an empty one', () => {
    expect(unsealChunk(key, head, 258, false, sealed)).toEqual(chunk)
    const empty = sealChunk(key, head, 0, true, new Uint8Array())
    expect(unsealChunk(key, head, 0, true, empty)?.length).toBe(0)
  })

  test.each([
    [
      'under another key',
      () =>
        unsealChunk(
          key.map(byte => byte ^ 1),
          head,
          258,
          false,
          sealed,
        ),
    ],
    ['behind another head', () => unsealChunk(key, Buffer.from('the heae'), 258, false, sealed)],
    ['at another place', () => unsealChunk(key, head, 257, false, sealed)],
    ['as the last one', () => unsealChunk(key, head, 258, true, sealed)],
    ['cut short', () => unsealChunk(key, head, 258, false, sealed.subarray(0, -1))],
    ['as nothing', () => unsealChunk(key, head, 258, false, new Uint8Array())],
  ])('does not open %s', (_, open) => {
    expect(open()).toBeUndefined()
  })
})
