import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import type { JsonObject } from '../../../src/lib/json/json.ts'
import { listLeaves, pathBelow, printFrame } from '../../../src/lib/json/leaves.ts'
import { bulkFramesMax } from '../../../src/limits/limits.ts'
import { canary, expectRefusal } from '../../support/refusal.ts'

const none = (): boolean => false
const withData = (value: JsonObject): boolean => value.has('data')

describe('listLeaves', () => {
  test('finds every scalar in order, and names its place by positions alone', () => {
    const value = parseJson(`{"${canary}":1,"b":[true,{"x":null},[]],"c":{},"d":"e"}`)
    expect(listLeaves(value, none, 10)).toEqual([
      { at: '[0]', value: 1 },
      { at: '[1][0]', value: true },
      { at: '[1][1][0]', value: null },
      { at: '[3]', value: 'e' },
    ])
  })

  test('takes an object that is a leaf as a whole, and looks no deeper', () => {
    const leaf = new Map([['data', [1, 2]]])
    expect(listLeaves([leaf, 3], withData, 2)).toEqual([
      { at: '[0]', value: leaf },
      { at: '[1]', value: 3 },
    ])
  })

  test('names a value that is a leaf itself by nothing', () => {
    expect(listLeaves('x', none, 1)).toEqual([{ at: '', value: 'x' }])
    expect(listLeaves([], none, 0)).toEqual([])
  })

  test('takes as many as it may, and refuses one more', () => {
    expect(listLeaves([1, [2], 3], none, 3)).toHaveLength(3)
    expectRefusal(() => listLeaves([1, [canary], 3], none, 2), ['body'])
  })

  test(`takes ${bulkFramesMax} arrays and objects, and refuses one more`, () => {
    const frames = (count: number) => Array.from({ length: count }, () => [])
    expect(listLeaves(frames(bulkFramesMax - 1), none, 0)).toEqual([])
    expectRefusal(() => listLeaves(frames(bulkFramesMax), none, 0), ['body'])
    const objects = Array.from({ length: bulkFramesMax }, () => new Map())
    expectRefusal(() => listLeaves(objects, none, 0), ['body'])
    // A value that is a leaf as a whole is counted as one.
    const leaf = new Map([['data', frames(bulkFramesMax)]])
    expect(listLeaves(leaf, withData, 1)).toHaveLength(1)
  })
})

describe('printFrame', () => {
  test.each([
    ['{"b":[1,{"10":2,"2":3}],"a":{}}', '{"b":[T0,{"10":T1,"2":T2}],"a":{}}'],
    ['[[],[1],"x",null]', '[[],[T0],T1,T2]'],
    ['"x"', 'T0'],
    ['{"__proto__":{"\\"":1}}', '{"__proto__":{"\\"":T0}}'],
  ])('puts texts in the places of leaves: %s', (text, printed) => {
    const value = parseJson(text)
    const texts = listLeaves(value, none, 10).map((_, index) => `T${index}`)
    expect(printFrame(value, none, texts)).toBe(printed)
  })

  test('puts one text in the place of an object that is a leaf', () => {
    const value = parseJson('[{"data":[1]},{"x":[2]}]')
    expect(printFrame(value, withData, ['A', 'B'])).toBe('[A,{"x":[B]}]')
  })
})

test.each([
  ['', 'data.number', 'data.number'],
  ['[3]', 'data.number', '[3].data.number'],
  ['[3]', '', '[3]'],
  ['[3]', '[0]', '[3][0]'],
  ['', '', ''],
])('the path below %j and %j is %j', (at, path, joined) => {
  expect(pathBelow(at, path)).toBe(joined)
})
