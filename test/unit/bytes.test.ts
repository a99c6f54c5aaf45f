import { describe, expect, test } from 'bun:test'
import { makeScratch, makeSlabs } from '../../src/bytes.ts'

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
