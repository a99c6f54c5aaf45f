import { describe, expect, test } from 'bun:test'
import { queryFault } from '../../../../../src/language/expression/filters/json-filters.ts'
import { expectDataRefusal, expectParseRefusal, filter } from '../../../../support/expressions.ts'
import { canary } from '../../../../support/refusal.ts'

const data = {
  books: [
    { title: 'Moby Dick', price: 8.99 },
    { title: 'Rings', price: 22.99 },
  ],
  bicycle: { color: 'red', price: 19.95 },
  nothing: null,
}

describe('json', () => {
  // proves C6.32
  test.each([
    ['$', data],
    ['$.bicycle', data.bicycle],
    ['$.bicycle.color', 'red'],
    ['$.books[0].title', 'Moby Dick'],
    ['$.books[-1].title', 'Rings'],
    ['$.books[?(@.price < 10)].title', 'Moby Dick'],
    ['$..color', 'red'],
    ['$.nothing', null],
    ['$.missing', null],
    ['$.book..author', null],
    ['$.constructor', null],
    ['$.__proto__', null],
  ])('%s picks one value, or null', (query, value) => {
    expect(filter(`json: '${query}'`, data)).toEqual(value)
  })

  test('takes a query in double quotes with quotes inside', () => {
    expect(filter(`json: "$['bicycle']['color']"`, data)).toBe('red')
    expect(filter(`json: '$["bicycle"]["color"]'`, data)).toBe('red')
  })

  // proves C6.32
  test.each(['$.books[*]', '$..price', '$["bicycle","books"]', '$.bicycle["price","price"]'])(
    'fails on %s, which picks several',
    query => {
      expectDataRefusal(`json: '${query}'`, data, ['Moby', '8.99', 'bicycle'])
    },
  )

  test.each([
    'json',
    'json: data',
    'json: 1',
    "json: ''",
    "json: 'bicycle'",
    "json: '$.'",
    'json: \'$[?match(@.a, "b")]\'',
    "json: '$', '$'",
    `json: '$.${canary}['`,
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test('calls no fault of ours a refusal', () => {
    const fault = new TypeError('a fault')
    const fail = () => {
      throw fault
    }
    expect(() => queryFault(fail, '$')).toThrow(fault)
  })
})
