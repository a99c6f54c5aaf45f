import { describe, expect, test } from 'bun:test'
import {
  base58,
  byteAt,
  makeScratch,
  makeSlabs,
  readU16,
  readU32,
  readU48,
  utf8Text,
  uuidOf,
  writeU16,
  writeU32,
  writeU48,
  readHex,
} from '../../src/lib/bytes.ts'

describe('scratch', () => {
  const scratch = makeScratch(100)

  test('gives the wanted length, and the same memory again', () => {
    const first = scratch(60).fill(7)
    const second = scratch(40)
    expect([first.length, second.length, scratch(0).length]).toEqual([60, 40, 0])
    expect(second.buffer).toBe(first.buffer)
    expect(second.every(byte => byte === 7)).toBe(true)
  })

  test('gives what is longer memory of its own', () => {
    expect(scratch(100).buffer).toBe(scratch(1).buffer)
    const long = scratch(101)
    expect(long.length).toBe(101)
    expect(long.buffer).not.toBe(scratch(1).buffer)
  })
})

describe('slabs', () => {
  test('give pieces that share an allocation and no byte of it', () => {
    const roomFor = makeSlabs(80, Buffer.allocUnsafeSlow)
    const sizes = [10, 10, 10, 10, 10, 10, 10, 9, 1, 1]
    const pieces = sizes.map((size, index) => roomFor(size).fill(index + 1))
    expect(pieces.map(piece => piece.length)).toEqual(sizes)
    pieces.forEach((piece, index) => expect(piece.every(byte => byte === index + 1)).toBe(true))
    expect(pieces[8]?.buffer).toBe(pieces[0]?.buffer)
    expect(pieces[9]?.buffer).not.toBe(pieces[0]?.buffer)
  })

  test('give what is longer an allocation of its own, and go on with theirs', () => {
    const asked: number[] = []
    const roomFor = makeSlabs(80, size => (asked.push(size), Buffer.alloc(size)))
    const [first, long, second] = [10, 11, 10].map(roomFor)
    expect(long?.length).toBe(11)
    expect(second?.buffer).toBe(first?.buffer)
    expect(asked).toEqual([80, 11])
  })
})

describe('whole numbers', () => {
  test('stand in big endian, at any place', () => {
    const bytes = new Uint8Array(12)
    writeU48(bytes, 1, 0x0102_0304_0506)
    writeU32(bytes, 8, 0xf1f2_f3f4)
    expect([...bytes]).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 0xf1, 0xf2, 0xf3, 0xf4])
    expect([readU48(bytes, 1), readU32(bytes, 8)]).toEqual([0x0102_0304_0506, 0xf1f2_f3f4])
  })

  test.each([0, 1, 2 ** 32 - 1, 2 ** 32, 2 ** 48 - 1])('of 48 bits come back: %i', number => {
    const bytes = new Uint8Array(6)
    writeU48(bytes, 0, number)
    expect(readU48(bytes, 0)).toBe(number)
  })

  test('of 16 bits come back', () => {
    const bytes = new Uint8Array(3)
    writeU16(bytes, 1, 0xfedc)
    expect([...bytes, readU16(bytes, 1)]).toEqual([0, 0xfe, 0xdc, 0xfedc])
  })

  test('have zeros where bytes are missing', () => {
    const one = Uint8Array.of(1)
    expect([byteAt(one, 0), byteAt(one, 1)]).toEqual([1, 0])
    expect([readU32(one, 0), readU32(one, 1)]).toEqual([2 ** 24, 0])
    expect([readU48(one, 0), readU48(one, 1)]).toEqual([2 ** 40, 0])
    expect([readU16(one, 0), readU16(one, 1)]).toEqual([256, 0])
  })
})

describe('texts of bytes', () => {
  // Vectors of draft-msporny-base58, section 5, at the length that is fixed for their bytes.
  test.each([
    ['48656c6c6f20576f726c6421', '2NEpo7TZRRrLZSi2U'],
    ['0000287fb4cd', '111233QC4'],
    ['', ''],
    ['00'.repeat(16), '1'.repeat(22)],
    ['ff'.repeat(16), 'YcVfxkQb6JRzqk5kF2tNLv'],
  ])('base58 of %s', (hex, text) => {
    expect(base58(Buffer.from(hex, 'hex'))).toBe(text)
  })

  test('a UUID of 16 bytes says its version and variant', () => {
    const uuid = uuidOf(Uint8Array.from({ length: 16 }, (_, i) => i * 17))
    expect(uuid).toBe('00112233-4455-4677-8899-aabbccddeeff')
  })

  test('a view of some bytes is read as UTF-8', () => {
    const bytes = new TextEncoder().encode('xéx')
    expect(utf8Text(bytes.subarray(1, 3))).toBe('é')
  })
})

test('hex is read where all of it is there, in lower case, and no more', () => {
  const read = (text: string) => readHex(Buffer.from(text, 'latin1'), new Uint8Array(2))
  expect(read('00ff')).toBe(true)
  expect(['00f', '00ff0', '00FF', '00fg', ''].map(read)).toEqual(Array(5).fill(false))
})
