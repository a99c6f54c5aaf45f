import { describe, expect, test } from 'bun:test'
import {
  startRun,
  type Run,
  spend,
  assertOutputFits,
  canonicalTextOf,
  demandText,
  integerOf,
  jsonOf,
  listOf,
  numberOf,
  spendOnWalk,
  textOf,
} from '../../../../src/language/expression/run.ts'
import { tokenDataBytesMax } from '../../../../src/limits/limits.ts'
import { at } from '../../../support/expressions.ts'
import { expectRefusal } from '../../../support/refusal.ts'

const runWith = (stepsLeft: number): Run => ({ ...startRun({ at, data: null }), stepsLeft })

describe('paying for work', () => {
  test('takes the last step and refuses one more', () => {
    const run = runWith(10)
    spend(run, 10)
    expect(run.stepsLeft).toBe(0)
    expectRefusal(() => spend(run, 1), [at])
  })

  test('long ASCII text is walked for nothing, other text is not', () => {
    const run = runWith(1_000)
    spendOnWalk(run, 'a'.repeat(100))
    expect(run.stepsLeft).toBe(1_000)
    spendOnWalk(run, 'é'.repeat(100))
    expect(run.stepsLeft).toBe(700)
    spendOnWalk(run, 'a'.repeat(33))
    expect(run.stepsLeft).toBe(700)
    spendOnWalk(run, 'a'.repeat(32))
    expect(run.stepsLeft).toBe(700 - 32 * 3)
  })

  test('a number costs nothing, a long one by its digits, a text by its length', () => {
    const run = runWith(1_000)
    expect(numberOf(5, run)).toBe(5)
    expect(run.stepsLeft).toBe(1_000)
    expect(numberOf({ numberText: '1.0' }, run)).toBe(1)
    expect(run.stepsLeft).toBe(1_000 - 24)
    expect(numberOf('12', run)).toBe(12)
    expect(run.stepsLeft).toBe(1_000 - 24 - 10)
  })
})

describe('printing with little left', () => {
  // 16 steps for each of the 12 characters.
  const value = ['a', 1, null]

  test('goes when it can be paid for, to the last step', () => {
    const run = runWith(12 * 16)
    expect(textOf(value, run)).toBe('["a",1,null]')
    expect(run.stepsLeft).toBe(0)
    const rich = runWith(1_000)
    textOf(value, rich)
    expect(rich.stepsLeft).toBe(1_000 - 12 * 16)
  })

  test('is refused when it cannot be paid for', () => {
    expectRefusal(() => textOf(value, runWith(12 * 16 - 1)), [at])
    expectRefusal(() => textOf(value, runWith(0)), [at])
  })
})

describe('values in filters', () => {
  test('bytes are no value', () => {
    expect(() => jsonOf(new Uint8Array(1))).toThrow('invariant')
    expect(jsonOf('a')).toBe('a')
  })

  test('a number has its canonical text in JSON, and its own text as text', () => {
    const exact = { numberText: '1.0' }
    expect(canonicalTextOf(exact, runWith(1_000))).toBe('1')
    expect(textOf(exact, runWith(1_000))).toBe('1.0')
    expect(demandText(exact, runWith(1_000))).toBe('1.0')
    expect(canonicalTextOf(null, runWith(1_000))).toBe('null')
    expect(canonicalTextOf('a', runWith(1_000))).toBe('a')
  })

  test('a list stays one, null is none, and anything else is a list of one', () => {
    const list = [1, 2]
    expect(listOf(list, runWith(1_000))).toBe(list)
    expect(listOf(null, runWith(1_000))).toEqual([])
    expect(listOf('ab', runWith(1_000))).toEqual(['ab'])
  })

  test('a number that no double holds is said to be one', () => {
    const long = { numberText: '12345678901234567890' }
    const error = expectRefusal(() => numberOf(long, runWith(1_000)), [at], [long.numberText])
    expect(error.message).toBe(`${at}: arithmetic would round this number`)
  })

  test.each([null, true, 1.5, 2 ** 53])('%p is no integer argument', value => {
    expectRefusal(() => integerOf(value, runWith(1_000)), [at])
  })

  test('an output may be as large as the data of a token', () => {
    const run = runWith(1_000)
    expect(() => assertOutputFits('a'.repeat(tokenDataBytesMax), run)).not.toThrow()
    expectRefusal(() => assertOutputFits('a'.repeat(tokenDataBytesMax + 1), run), [at])
    const most = Math.floor(tokenDataBytesMax / 3)
    expect(() => assertOutputFits('日'.repeat(most), run)).not.toThrow()
    expectRefusal(() => assertOutputFits('日'.repeat(most + 1), run), [at])
    expect(() => assertOutputFits(['a'.repeat(tokenDataBytesMax - 4)], run)).not.toThrow()
    expectRefusal(() => assertOutputFits(['a'.repeat(tokenDataBytesMax - 3)], run), [at])
  })
})
