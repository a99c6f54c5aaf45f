import { Type } from '@sinclair/typebox'
import { describe, expect, test } from 'bun:test'
import { parseJson } from '../../../src/domain/json-parse.ts'
import { printJson } from '../../../src/domain/json-print.ts'
import { knownPart } from '../../../src/http/known-part.ts'

const schema = Type.Object({
  name: Type.String(),
  data: Type.Optional(Type.Unknown()),
  rules: Type.Optional(
    Type.Union([Type.Array(Type.Object({ priority: Type.Integer() })), Type.Null()]),
  ),
  texts: Type.Optional(Type.Array(Type.String())),
})

const partOf = (text: string, opaque: readonly string[] = []): string =>
  printJson(knownPart(schema, parseJson(text), new Set(opaque)))

describe('what a schema knows of a body', () => {
  test('are its own members, in its own order, and no others', () => {
    expect(partOf('{"__proto__":1,"name":"a","nam":2,"toString":3}')).toBe('{"name":"a"}')
    expect(partOf('{"texts":["b"],"name":"a"}')).toBe('{"name":"a","texts":["b"]}')
  })

  test('goes as deep as it does, also where null may stand', () => {
    const rules = '{"name":"a","rules":[{"priority":1,"x":{}},{"y":1}]}'
    expect(partOf(rules)).toBe('{"name":"a","rules":[{"priority":1},{}]}')
    expect(partOf('{"rules":null}')).toBe('{"rules":null}')
  })

  test('has nothing of an object or list where it wants none', () => {
    expect(partOf('{"name":{"x":1},"texts":[{"y":1},"b"]}')).toBe('{"name":{},"texts":[{},"b"]}')
    expect(partOf('{"name":["x"]}')).toBe('{"name":[]}')
    expect(partOf('["x"]')).toBe('[]')
  })

  test('keeps opaque members as they are, at the top alone', () => {
    expect(partOf('{"data":{"x":[1]}}', ['data'])).toBe('{"data":{"x":[1]}}')
    expect(partOf('{"data":{"x":[1]}}')).toBe('{"data":{}}')
  })
})
