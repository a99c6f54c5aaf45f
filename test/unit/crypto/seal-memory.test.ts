import { utf8Text } from '../../../src/lib/bytes.ts'
import { describe, expect, test } from 'bun:test'
import { portable, primitives, type Primitives } from '../../../src/crypto/primitives.ts'
import { unsealAll, sealAll } from '../../../src/crypto/seal.ts'
import { sealUnder, unsealUnder } from '../../../src/crypto/seal-under.ts'
import { sealScratchBytes, sealSlabBytes } from '../../../src/limits/work-limits.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(17)
const key = random(32)
const keyOf = () => key
const place = { number: 1, key }
const context = [random(60)]
const textsOf = (name: string) => [`record of ${name}`, `data of ${name}`]
const bytesOf = (texts: readonly string[]) => texts.map(text => Buffer.from(text))

function sealTexts(texts: readonly string[], use: Primitives) {
  const [head, ...values] = sealAll(place, context, random(24), bytesOf(texts), use)
  if (head === undefined) throw new Error('nothing was sealed')
  return { head, values }
}

/** Wraps `use` and remembers the buffers it gets: keys, plaintexts and derived values. */
function openWatch(use: Primitives) {
  const secrets = new Set<Uint8Array>()
  const watched: Primitives = {
    ...use,
    keyedHash(hashKey, input, into) {
      secrets.add(into).add(input)
      return use.keyedHash(hashKey, input, into)
    },
    encrypt(messageKey, nonce, plaintext, aad, into) {
      secrets.add(messageKey).add(plaintext)
      expect([messageKey, plaintext].some(bytes => bytes.every(byte => byte === 0))).toBe(false)
      return use.encrypt(messageKey, nonce, plaintext, aad, into)
    },
    decrypt(messageKey, nonce, sealed, aad, into) {
      secrets.add(messageKey)
      if (into !== undefined) secrets.add(into)
      return use.decrypt(messageKey, nonce, sealed, aad, into)
    },
  }
  const isWiped = () => [...secrets].every(bytes => bytes.every(byte => byte === 0))
  return { watched, secrets, isWiped }
}

const implementations: readonly Primitives[] = [primitives, portable]

describe.each(implementations.map(use => [use.name, use] as const))('%s', (_, use) => {
  test('sealing wipes keys and plaintexts where it worked on them', () => {
    const { watched, secrets, isWiped } = openWatch(use)
    sealTexts(textsOf('a'), watched)
    expect(secrets.size).toBeGreaterThan(2)
    expect(isWiped()).toBe(true)
  })

  test('opening a text wipes keys and plaintext, also of what does not open', () => {
    const { watched, secrets, isWiped } = openWatch(use)
    const { head, values } = sealTexts(textsOf('a'), use)
    const [first = head, second = head] = values
    const opener = unsealAll(keyOf, context, head, watched)
    expect(isWiped()).toBe(true)
    expect(opener.read(0, first, utf8Text)).toBe('record of a')
    expect(secrets.size).toBe(4)
    expect(isWiped()).toBe(true)
    const failing = () => {
      throw new Error('cannot be made')
    }
    expect(() => opener.read(0, first, failing)).toThrow('cannot be made')
    expect(isWiped()).toBe(true)
    expect(() => opener.read(0, second, utf8Text)).toThrow('did not open')
    expect(() => opener.read(0, first.subarray(0, 15), utf8Text)).toThrow('did not open')
    expect(isWiped()).toBe(true)
    const other = Uint8Array.from(head, (byte, at) => (at === head.length - 1 ? byte ^ 1 : byte))
    expect(() => unsealAll(keyOf, context, other, watched)).toThrow('did not open')
    expect(isWiped()).toBe(true)
  })

  test('sealing that fails wipes them, too', () => {
    const { watched, secrets, isWiped } = openWatch(use)
    const failing: Primitives = {
      ...watched,
      encrypt(...all) {
        watched.encrypt(...all)
        throw new Error('no memory')
      },
    }
    expect(() => sealTexts(textsOf('a'), failing)).toThrow('no memory')
    expect(secrets.size).toBe(4)
    expect(isWiped()).toBe(true)
  })

  test('a value that is sealed under a key of its own opens under that key alone', () => {
    const sealed = sealUnder(random(32), random(24), Buffer.from('737'))
    expect(unsealUnder(random(32), sealed)).toBeUndefined()
    const ownKey = random(32)
    const opened = unsealUnder(ownKey, sealUnder(ownKey, random(24), Buffer.from('737')))
    expect(opened && utf8Text(opened)).toBe('737')
  })

  test('sealing under a key of its own wipes the plaintext, and nothing that is sealed', () => {
    const { watched, secrets, isWiped } = openWatch(use)
    const ownKey = random(32)
    const sealUsing = (text: string, by: Primitives) =>
      sealUnder(ownKey, random(24), Buffer.from(text), by)
    const [first, second] = ['123', '4567'].map(text => sealUsing(text, watched))
    expect(secrets.delete(ownKey)).toBe(true)
    expect(secrets.size).toBe(2)
    expect(isWiped()).toBe(true)
    const failing: Primitives = {
      ...watched,
      encrypt(...all) {
        watched.encrypt(...all)
        throw new Error('no memory')
      },
    }
    expect(() => sealUsing('890', failing)).toThrow('no memory')
    secrets.delete(ownKey)
    expect(isWiped()).toBe(true)
    sealTexts(textsOf('later'), use)
    const opened = [first, second].map(sealed => sealed && unsealUnder(ownKey, sealed))
    expect(opened.map(bytes => bytes && utf8Text(bytes))).toEqual(['123', '4567'])
  })

  test('values that are open at the same time do not disturb each other', () => {
    const [one, other] = ['one', 'other'].map(name => {
      const { head, values } = sealTexts(textsOf(name), use)
      const opener = unsealAll(keyOf, context, head, use)
      return (index: number) => opener.read(index, values[index] ?? head, utf8Text)
    })
    const opened = [one?.(0), other?.(0), one?.(1), other?.(1), one?.(0)]
    const [record, data] = textsOf('one')
    const [otherRecord, otherData] = textsOf('other')
    expect(opened).toEqual([record, otherRecord, data, otherData, record])
  })

  test('bytes that were opened and values that were sealed stay as they are', () => {
    const { head, values } = sealTexts(textsOf('kept'), use)
    const sealed = [head, ...values].map(part => Buffer.from(part).toString('hex'))
    const opened = unsealAll(keyOf, context, head, use).open(1, values[1] ?? head)
    for (let count = 0; count < 1_000; count += 1) {
      const later = sealTexts(textsOf(String(count)), use)
      unsealAll(keyOf, context, later.head, use).read(1, later.values[1] ?? head, utf8Text)
    }
    expect(Buffer.from(opened).toString()).toBe('data of kept')
    expect([head, ...values].map(part => Buffer.from(part).toString('hex'))).toEqual(sealed)
  })

  test('texts of any length are sealed and opened', () => {
    const around = [sealScratchBytes, sealSlabBytes - 16, sealSlabBytes]
    for (const length of [0, 1, ...around.flatMap(size => [size - 1, size, size + 1])]) {
      const text = 'ß'.repeat(length / 2) + 'x'.repeat(length % 2)
      const { head, values } = sealTexts([text], use)
      expect(
        unsealAll(keyOf, context, head, use).read(0, values[0] ?? head, utf8Text) === text,
      ).toBe(true)
    }
  })
})
