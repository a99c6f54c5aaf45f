import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/json/parse.ts'
import { isJsonObject } from '../../../src/json/json.ts'
import { knownPart } from '../../../src/gate/strict-body.ts'

const schema = Type.Object({
  name: Type.String(),
  data: Type.Optional(Type.Unknown()),
  rules: Type.Optional(
    Type.Union([Type.Array(Type.Object({ priority: Type.Integer() })), Type.Null()]),
  ),
  texts: Type.Optional(Type.Array(Type.String())),
})

function partOf(text: string, opaque: readonly string[] = []): string {
  const value = parseJson(text)
  if (!isJsonObject(value)) throw new Error('expected an object')
  return JSON.stringify(knownPart(schema, value, new Set(opaque)))
}

describe('what a schema knows of a body', () => {
  test('are its own members and no others', () => {
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
    expect(() => partOf('{"nmae":1}')).toThrow('name: is misspelled')
    expect(() => partOf('{"rules":[{},{"priorty":1}]}')).toThrow('rules[1].priority: is misspelled')
    expect(() => partOf('{"data":{"priorty":1}}', ['data'])).not.toThrow()
  })
})
