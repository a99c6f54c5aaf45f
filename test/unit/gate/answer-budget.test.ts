/**
 * The budget of bytes for long answers, and how one leaves. Contract section 16.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { makeAnswerBudget } from '../../../src/http/budgets.ts'
import { inPieces } from '../../../src/http/answer-pieces.ts'
import { answerPieceBytes, shortAnswerBytesMax } from '../../../src/limits/limits.ts'

const unit = 2 * shortAnswerBytesMax
const max = { all: 10 * unit, own: 4 * unit }
const overloaded = expect.objectContaining({ kind: 'overloaded' })

describe('a budget of answers', () => {
  // proves C16.5
  test('gives one credential its own share, and others theirs', () => {
    const open = makeAnswerBudget(max)
    const hold = open(1)
    hold.reserve(4 * unit)
    expect(() => open(1).reserve(unit)).toThrow(overloaded)
    open(2).reserve(4 * unit)
    hold.release()
    open(1).reserve(unit)
  })

  test('gives all of them together what the process has', () => {
    const open = makeAnswerBudget(max)
    const holds = [1, 2, 3, 4, 5].map(ordinal => open(ordinal))
    for (const hold of holds) hold.reserve(2 * unit)
    expect(() => open(6).reserve(unit)).toThrow(overloaded)
    holds[0]?.release()
    open(6).reserve(2 * unit)
  })

  test('counts the most that one request needs at a time, and no short ones', () => {
    const open = makeAnswerBudget(max)
    const hold = open(1)
    for (const bytes of [unit, 3 * unit, 2 * unit, 4 * unit]) hold.reserve(bytes)
    expect(() => open(1).reserve(shortAnswerBytesMax + 1)).toThrow(overloaded)
    open(1).reserve(shortAnswerBytesMax)
  })

  // proves C16.5
  test('lets one answer of any length be made where its credential has none', () => {
    const open = makeAnswerBudget(max)
    const hold = open(1)
    hold.reserve(100 * unit)
    expect(() => open(1).reserve(unit)).toThrow(overloaded)
    open(2).reserve(4 * unit)
    hold.release()
    hold.release()
    open(1).reserve(4 * unit)
  })

  test('takes nothing where it refuses, and holds what is there from then on', () => {
    const open = makeAnswerBudget(max)
    const hold = open(1)
    hold.reserve(3 * unit)
    const other = open(1)
    expect(() => other.reserve(2 * unit)).toThrow(overloaded)
    other.reserve(unit)
    hold.settle(unit)
    open(1).reserve(2 * unit)
    expect(() => open(1).reserve(unit)).toThrow(overloaded)
  })
})

describe('an answer in pieces', () => {
  const bytes = new Uint8Array(2 * answerPieceBytes + 1).map((_, at) => at % 251)

  test('is whole, and told to have ended once all of it was taken, not before', async () => {
    let ends = 0
    const reader = inPieces(bytes, () => (ends += 1)).getReader()
    const pieces: Uint8Array[] = []
    for (let count = 0; count < 3; count += 1) {
      const { value } = await reader.read()
      pieces.push(value ?? new Uint8Array())
      expect(ends).toBe(0)
    }
    expect((await reader.read()).done).toBe(true)
    expect(ends).toBe(1)
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
  })

  // proves E10.21
  test('is told to have ended when nobody reads on', async () => {
    let ends = 0
    const reader = inPieces(bytes, () => (ends += 1)).getReader()
    await reader.read()
    await reader.cancel()
    expect(ends).toBe(1)
  })
})
