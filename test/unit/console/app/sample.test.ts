/**
 * A sample token as a person types it becomes the body that a program would send.
 * @module
 */
import { expect, test } from 'bun:test'
import { bodyOf, faultsOf, sampleTypes, type Sample } from '../../../../src/console/app/sample.ts'
import { tokenTypeNames } from '../../../../src/rules/token-types.ts'

const empty: Sample = {
  type: 'token',
  data: '1',
  mask: '',
  id: '',
  search_indexes: '',
  fingerprint_expression: '',
  metadata: '',
}

test('every type can be chosen', () => {
  expect(sampleTypes.map(String).toSorted()).toEqual([...tokenTypeNames].toSorted())
})

test.each<[string, Partial<Sample>, object]>([
  ['fields that are empty are left out', {}, { type: 'token', data: 1 }],
  ['data of a card is JSON', { type: 'card', data: '{"number":"4"}' }, { data: { number: '4' } }],
  ['a card number is a text', { type: 'card_number', data: '0424' }, { data: '0424' }],
  ['a mask is an expression', { mask: '{{ data }}' }, { mask: '{{ data }}' }],
  ['or JSON of them', { mask: '{"a":"{{ data }}"}' }, { mask: { a: '{{ data }}' } }],
  ['or none', { mask: 'null' }, { mask: null }],
  ['an index a line', { search_indexes: 'a\n\n b ' }, { search_indexes: ['a', 'b'] }],
  ['metadata is JSON', { metadata: '{"a":"b"}' }, { metadata: { a: 'b' } }],
])('%s', (_, typed, body) => {
  expect(bodyOf({ ...empty, ...typed }).body).toMatchObject(body)
})

test('numbers stay as they are typed', () => {
  const { body } = bodyOf({ ...empty, data: '[12345678901234567890123, 1.0]' })
  expect(JSON.stringify(body)).toContain('[12345678901234567890123,1.0]')
})

test('what is no JSON is told at its field', () => {
  const typed = { data: '{', mask: '{"a":', metadata: 'a=b' }
  const { faults = {} } = bodyOf({ ...empty, ...typed })
  expect(Object.keys(faults)).toEqual(['data', 'mask', 'metadata'])
})

test('faults that the vault tells stand at their fields, by their paths', () => {
  const errors = { mask: ['one'], 'data.number': ['two', 'three'], 'search_indexes[1]': ['four'] }
  expect(faultsOf(errors)).toEqual({
    mask: 'one',
    data: 'data.number: two, three',
    search_indexes: 'search_indexes[1]: four',
  })
})
