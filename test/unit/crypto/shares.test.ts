/**
 * Shares of a master key: enough of them give it again, and all else is refused.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { joinShares, parseShare, splitKey } from '../../../src/crypto/shares.ts'
import { sharesMax } from '../../../src/limits/operation-limits.ts'
import { seededBytes } from '../../support/seeded.ts'

const random = seededBytes(7)
const fresh = (): Uint8Array => Uint8Array.from(random(32))
const texts = async (key: Uint8Array, count: number, threshold: number): Promise<string[]> =>
  (await splitKey(key, count, threshold, random)).map(text => Buffer.from(text).toString('latin1'))
const parse = (text: string) => parseShare(Buffer.from(text, 'latin1'))

describe('a key that was split', () => {
  // proves S21
  test('follows from any so many of its shares, and from no fewer', async () => {
    const key = fresh()
    const shares = (await texts(key, 5, 3)).map(parse)
    for (const [a, b, c] of [
      [0, 1, 2],
      [4, 2, 0],
      [3, 4, 1],
    ]) {
      const some = [a, b, c].map(at => shares[at ?? 0]!)
      expect(Buffer.from((await joinShares(some)) ?? [])).toEqual(Buffer.from(key))
    }
    expect(await joinShares(shares.slice(0, 2))).toBeUndefined()
    expect(await joinShares(shares)).toEqual(Buffer.from(key))
  })

  test('does not follow from shares of another key, or of another split', async () => {
    const key = fresh()
    const [own = '', second = ''] = await texts(key, 2, 2)
    const [, other = ''] = await texts(fresh(), 2, 2)
    const [, again = ''] = await texts(key, 2, 2)
    expect(await joinShares([parse(own), parse(other)])).toBeUndefined()
    expect(await joinShares([parse(own), parse(again)])).toBeUndefined()
    expect(await joinShares([parse(own), parse(second)])).toBeDefined()
  })

  test('does not follow from shares of another key at the same point either', async () => {
    const own = parse((await texts(fresh(), 2, 2))[0] ?? '')
    let other = own
    while (other === own || other.part.at(-1) !== own.part.at(-1)) {
      other = parse((await texts(fresh(), 2, 2))[0] ?? '')
    }
    expect(await joinShares([own, other])).toBeUndefined()
  })

  test('is in no share, and the shares differ', async () => {
    const key = fresh()
    const shares = await texts(key, 20, 2)
    expect(new Set(shares).size).toBe(sharesMax)
    for (const share of shares) expect(share).not.toContain(Buffer.from(key).toString('hex'))
  })
})

test.each([
  [1, 1],
  [5, 1],
  [5, 6],
  [sharesMax + 1, 2],
  [2.5, 2],
  [Number.NaN, 2],
])('%d shares with a threshold of %d are refused', async (count, threshold) => {
  await expect(splitKey(fresh(), count, threshold, random)).rejects.toThrow(
    /^expected 2 to 20 shares/,
  )
})

describe('a share as text', () => {
  test('says how many are needed, and is read whatever its case and spaces', async () => {
    const [, text = ''] = await texts(fresh(), 3, 2)
    expect(text).toMatch(/^coffer-share-1-02-02-[0-9a-f]{8}-[0-9a-f]{16}-[0-9a-f]{66}-[0-9a-f]{8}$/)
    const read = parse(text)
    expect([read.threshold, read.number]).toEqual([2, 2])
    const typed = ` ${text.toUpperCase().replaceAll('-', '-\t ')}\r\n`
    expect(Buffer.from(parse(typed).part)).toEqual(Buffer.from(read.part))
  })

  test('is refused where its checksum is no hex', async () => {
    const [text = ''] = await texts(fresh(), 2, 2)
    expect(() => parse(`${text.slice(0, -1)}z`)).toThrow('mistyped')
  })

  // proves S21
  test('is refused with any one character changed, cut short or longer', async () => {
    const [text = ''] = await texts(fresh(), 2, 2)
    for (let at = 0; at < text.length; at += 1) {
      const other = text[at] === '3' ? '4' : '3'
      expect(() => parse(text.slice(0, at) + other + text.slice(at + 1))).toThrow(/share/)
      expect(() => parse(text.slice(0, at))).toThrow(/share/)
    }
    expect(() => parse(`${text}0`)).toThrow(/mistyped or cut short/)
  })

  test('of another version, or of something else, says so and repeats nothing', async () => {
    const [text = ''] = await texts(fresh(), 2, 2)
    expect(() => parse(text.replace('share-1', 'share-2'))).toThrow(/newer coffer/)
    for (const other of ['', 'planted secret', 'ab'.repeat(32)]) {
      expect(() => parse(other)).toThrow(/^this is not a share of coffer keys split$/)
    }
  })
})

describe('a share that somebody forged, with a checksum that fits', () => {
  const numbersAt = 'coffer-share-1-'.length

  /** The same with other numbers, two characters each. */
  function forge(share: string, threshold: string, number: string): string {
    const numbers = `${threshold}-${number}`
    const rest = share.slice(numbersAt + numbers.length, -8)
    const before = `${share.slice(0, numbersAt)}${numbers}${rest}`
    return before + createHash('sha256').update(before).digest('hex').slice(0, 8)
  }

  test.each([
    ['01', '01'],
    ['00', '01'],
    ['21', '01'],
    ['99', '01'],
    ['zz', '01'],
    ['02', '00'],
    ['02', '21'],
    ['02', '%%'],
  ])('is refused with a threshold of %s and the number %s', async (threshold, number) => {
    const [share = ''] = await texts(fresh(), 2, 2)
    expect(parse(forge(share, '02', '01'))).toMatchObject({ threshold: 2, number: 1 })
    expect(() => parse(forge(share, threshold, number))).toThrow(/mistyped/)
  })
})
