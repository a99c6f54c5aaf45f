/**
 * Schemas as the OpenAPI document prints them.
 * @module
 */
import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { describeSchema, type Components } from '../../../src/http/documentation/failures.ts'

const describeAlone = (schema: object) =>
  JSON.parse(JSON.stringify(describeSchema(schema as Record<string, unknown>, new Map())))

test('a choice of texts is a list of them, and says nothing of our messages', () => {
  const choice = Type.Union([Type.Literal('a'), Type.Literal('b')], {
    names: ['canary'],
    missing: 'canary',
  })
  expect(describeAlone(choice)).toEqual({ type: 'string', enum: ['a', 'b'] })
  const mixed = Type.Union([Type.Literal('a'), Type.Number()])
  expect(describeAlone(mixed).anyOf).toHaveLength(2)
})

test('a value or null has two types, unless more is said of it', () => {
  const nullable = Type.Union([Type.String({ description: 'x', maxLength: 3 }), Type.Null()])
  expect(describeAlone(nullable)).toEqual({
    type: ['string', 'null'],
    description: 'x',
    maxLength: 3,
  })
  const choice = Type.Union([Type.Union([Type.Literal('a'), Type.Literal('b')]), Type.Null()])
  expect(describeAlone(choice)).toEqual({
    anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }],
  })
})

test('a record says what its values are', () => {
  const record = Type.Record(Type.String(), Type.Array(Type.Integer()))
  expect(describeAlone(record)).toEqual({
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'integer' } },
  })
})

test('a titled schema is told once and referred to, at any depth', () => {
  const components: Components = new Map()
  const inner = Type.Object({ title: Type.String() }, { title: 'Inner' })
  const outer = Type.Object({ list: Type.Array(inner), one: Type.Optional(inner) })
  const described = describeSchema(outer, components)
  const reference = { $ref: '#/components/schemas/Inner' }
  expect(described).toMatchObject({
    properties: { list: { type: 'array', items: reference }, one: reference },
    required: ['list'],
  })
  // A member may be called as a keyword is.
  expect(components.get('Inner')).toMatchObject({ properties: { title: { type: 'string' } } })
  expect([...components.keys()]).toEqual(['Inner'])
})
