import { Type } from '@sinclair/typebox'
import { describe, expect, spyOn, test } from 'bun:test'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { isJsonObject } from '../../../src/lib/json/json.ts'
import { knownPart } from '../../../src/http/strict-body.ts'
import { comparedNamesMax } from '../../../src/limits/limits.ts'

const schema = Type.Object({
  name: Type.String(),
  data: Type.Optional(Type.Unknown()),
  rules: Type.Optional(
    Type.Union([Type.Array(Type.Object({ priority: Type.Integer() })), Type.Null()]),
  ),
  texts: Type.Optional(Type.Array(Type.String())),
  few: Type.Optional(Type.Union([Type.Array(Type.String(), { maxItems: 2 }), Type.Null()])),
})

function partOf(text: string, opaque: readonly string[] = []): string {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error('expected an object')
  return JSON.stringify(knownPart(schema, value, new Set(opaque)))
}

describe('the known part of a body', () => {
  test('has its own members and no others', () => {
    expect(partOf('{"__proto__":1,"name":"a","other":2,"toString":3}')).toBe('{"name":"a"}')
  })

  test('goes as deep as it does, also where null may stand', () => {
    const rules = '{"name":"a","rules":[{"priority":1,"x":{}},{"y":1}]}'
    expect(partOf(rules)).toBe('{"name":"a","rules":[{"priority":1},{}]}')
    expect(partOf('{"rules":null}')).toBe('{"rules":null}')
  })

  test('has nothing of an object or list where it wants none', () => {
    expect(partOf('{"name":{"x":1},"texts":[{"y":1},"b"]}')).toBe('{"name":{},"texts":[{},"b"]}')
    expect(partOf('{"name":["x"]}')).toBe('{"name":[]}')
  })

  test('has no more of a list than tells that it is too long', () => {
    expect(partOf('{"few":["a","b"]}')).toBe('{"few":["a","b"]}')
    expect(partOf('{"few":["a","b","c","d","e"]}')).toBe('{"few":["a","b","c"]}')
  })

  test('keeps opaque members as they are, at the top alone', () => {
    const value = parseJson('{"data":{"x":[1]},"rules":[{"data":1}]}')
    const known = isJsonObject(value) && knownPart(schema, value, new Set(['data']))
    expect(known).toMatchObject({ data: new Map([['x', [1]]]), rules: [{}] })
    expect(partOf('{"data":{"x":[1]}}')).toBe('{"data":{}}')
  })

  test('has numbers as the nearest double', () => {
    expect(partOf('{"rules":[{"priority":1.0}],"name":12345678901234567890}')).toBe(
      '{"rules":[{"priority":1}],"name":12345678901234567000}',
    )
  })

  test('refuses a name that is nearly a known one, wherever it stands', () => {
    expect(() => partOf('{"nmae":1}')).toThrow('name: unknown member')
    expect(() => partOf('{"rules":[{},{"priorty":1}]}')).toThrow(
      'rules[1].priority: unknown member',
    )
    expect(() => partOf('{"data":{"priorty":1}}', ['data'])).not.toThrow()
  })
})

/** Names that are known to no schema, all different, and near none. */
const namesFor = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `"x${at}":1`)

/** Counts the names that were compared with known ones: each is brought to lower case for it. */
function comparedIn(task: () => void): number {
  const lowered = spyOn(String.prototype, 'toLowerCase')
  try {
    task()
    return lowered.mock.calls.length
  } finally {
    lowered.mockRestore()
  }
}

describe('unknown names of one body', () => {
  test('are compared up to a bound, however many there are', () => {
    const text = `{${namesFor(9_000).join(',')},"name":"a"}`
    expect(comparedIn(() => expect(partOf(text)).toBe('{"name":"a"}'))).toBe(comparedNamesMax)
    const item = `{${namesFor(9_000).join(',')}}`
    const items = Array.from({ length: 8 }, () => item).join(',')
    expect(comparedIn(() => partOf(`{"rules":[${items}]}`))).toBe(comparedNamesMax)
  })

  test('that is nearly a known one is told behind thousands of others', () => {
    const text = `{${namesFor(comparedNamesMax - 1).join(',')},"nmae":1}`
    expect(() => partOf(text)).toThrow('name: unknown member')
  })

  test('that come again in each item of a list are compared once', () => {
    const item = `{"priority":1,${namesFor(20).join(',')}}`
    const items = Array.from({ length: 1_000 }, () => item).join(',')
    const text = `{"rules":[${items},{"priorty":1}]}`
    const compared = comparedIn(() => expect(() => partOf(text)).toThrow('rules[1000].priority'))
    expect(compared).toBe(21)
  })

  test('that are longer than any that may be meant are not compared', () => {
    expect(comparedIn(() => partOf(`{"${'name'.repeat(1_000)}":1}`))).toBe(0)
  })
})
