import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson } from '../../../src/lib/json/json.ts'
import { mergePatch } from '../../../src/lib/json/merge-patch.ts'
import { hiddenMembersStep, jsonMembersMax } from '../../../src/limits/limits.ts'

const merge = (target: string, patch: string) =>
  printJson(mergePatch(parseJson(target), parseJson(patch)))

describe('mergePatch', () => {
  test.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', 'null', 'null'],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ])('merges as in RFC 7386 appendix A: %s with %s', (target, patch, result) => {
    expect(merge(target, patch)).toBe(result)
  })

  test('treats what is not there yet as an empty object', () => {
    expect(printJson(mergePatch(undefined, parseJson('{"a":{"b":null,"c":1}}')))).toBe(
      '{"a":{"c":1}}',
    )
    expect(mergePatch(undefined, 'x')).toBe('x')
  })

  test('keeps the order of the target and appends what is new', () => {
    expect(merge('{"b":1,"10":2,"a":3}', '{"1":4,"a":5,"b":6}')).toBe('{"b":6,"10":2,"a":5,"1":4}')
  })

  test('keeps nulls inside an array of the patch', () => {
    expect(merge('{"a":1}', '{"a":[null,{"b":null}]}')).toBe('{"a":[null,{"b":null}]}')
  })

  test('keeps exact numbers and does not take them for objects', () => {
    expect(merge('{"a":1.0,"b":{"c":-0}}', '{"b":{"d":1e-400}}')).toBe(
      '{"a":1.0,"b":{"c":-0,"d":1e-400}}',
    )
    expect(merge('{"a":1.0}', '{"a":{"numberText":"x"}}')).toBe('{"a":{"numberText":"x"}}')
  })

  test('treats names of the prototype as any other', () => {
    const patch = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'
    expect(merge('{}', patch)).toBe(patch)
    expect(merge(patch, '{"__proto__":null,"constructor":{"prototype":null}}')).toBe(
      '{"constructor":{}}',
    )
    expect('polluted' in {}).toBe(false)
  })

  test('changes neither what it merges into nor the patch', () => {
    const target = parseJson('{"a":{"b":1}}')
    const patch = parseJson('{"a":{"c":2}}')
    mergePatch(target, patch)
    expect([printJson(target), printJson(patch)]).toEqual(['{"a":{"b":1}}', '{"a":{"c":2}}'])
  })

  describe('objects of many members', () => {
    const members = (from: number, count: number) =>
      new Map(Array.from({ length: count }, (_, index) => [`m${from + index}`, 0] as const))

    test('grow up to their bound and no further', () => {
      const standing = members(0, jsonMembersMax - 1)
      const full = mergePatch(standing, members(jsonMembersMax, 1))
      expect((full as ReadonlyMap<string, unknown>).size).toBe(jsonMembersMax)
      expect(() => mergePatch(full, members(-1, 1))).toThrow()
      expect(() => mergePatch(new Map([['a', full]]), new Map([['a', members(-1, 1)]]))).toThrow()
    })

    // proves E11.5
    test.each([
      [0, 1],
      [1, 1],
      [hiddenMembersStep, 1],
      [hiddenMembersStep + 1, 2],
    ])('that are hidden, %d of them, count in whole steps: %d', (count, steps) => {
      const standing = members(0, count)
      const room = jsonMembersMax - steps * hiddenMembersStep
      // Members that are there, that are not, and that are removed count alike.
      for (const patch of [members(0, room), members(count, room)]) {
        mergePatch(standing, patch, true)
        const over = new Map<string, null | 0>([...patch, ['removed', null]])
        expect(() => mergePatch(standing, over, true)).toThrow()
        const inside = new Map([['a', over]])
        expect(() => mergePatch(new Map([['a', standing]]), inside, true)).toThrow()
      }
    })

    test('that are beyond it by then may be changed, and shrink', () => {
      const standing = members(0, jsonMembersMax + 2)
      const changed = mergePatch(standing, new Map([['m1', 1]]))
      expect((changed as ReadonlyMap<string, unknown>).size).toBe(jsonMembersMax + 2)
      const shrunk = mergePatch(standing, new Map([['m1', null]]))
      expect((shrunk as ReadonlyMap<string, unknown>).size).toBe(jsonMembersMax + 1)
    })
  })
})
