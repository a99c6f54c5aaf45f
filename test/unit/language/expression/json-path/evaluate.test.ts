import { describe, expect, test } from 'bun:test'
import { findValues } from '../../../../../src/language/expression/json-path/evaluate.ts'
import { parseJsonPath } from '../../../../../src/language/expression/json-path/parse-path.ts'
import { startRun } from '../../../../../src/language/expression/run.ts'
import { parseJson } from '../../../../../src/lib/json/parse-json.ts'
import { fromPlain, toPlain, type Json } from '../../../../../src/lib/json/json.ts'
import { expectRefusal } from '../../../../support/refusal.ts'

const selectFrom = (query: string, data: Json, most = Number.POSITIVE_INFINITY): unknown[] =>
  findValues(parseJsonPath(query), data, startRun({ at: 'mask', data }), most).map(value =>
    toPlain(value),
  )

const select = (query: string, data: unknown): unknown[] => selectFrom(query, fromPlain(data))

/** RFC 9535 figure 1. */
const bookstore = {
  store: {
    book: [
      { category: 'reference', author: 'Nigel Rees', title: 'Sayings of the Century', price: 8.95 },
      { category: 'fiction', author: 'Evelyn Waugh', title: 'Sword of Honour', price: 12.99 },
      {
        category: 'fiction',
        author: 'Herman Melville',
        title: 'Moby Dick',
        isbn: '0-553-21311-3',
        price: 8.99,
      },
      {
        category: 'fiction',
        author: 'J. R. R. Tolkien',
        title: 'The Lord of the Rings',
        isbn: '0-395-19395-8',
        price: 22.99,
      },
    ],
    bicycle: { color: 'red', price: 399 },
  },
}

describe('selectors, by the examples of RFC 9535 section 1.5', () => {
  const { book, bicycle } = bookstore.store
  const authors = book.map(({ author }) => author)

  test.each([
    ['$.store.book[*].author', authors],
    ['$..author', authors],
    ['$.store.*', [book, bicycle]],
    ['$.store..price', [8.95, 12.99, 8.99, 22.99, 399]],
    ['$..book[2]', [book[2]]],
    ['$..book[2].author', ['Herman Melville']],
    ['$..book[2].publisher', []],
    ['$..book[-1]', [book[3]]],
    ['$..book[0,1]', [book[0], book[1]]],
    ['$..book[:2]', [book[0], book[1]]],
    ['$..book[?@.isbn]', [book[2], book[3]]],
    ['$..book[?@.price<10]', [book[0], book[2]]],
  ])('%s', (query, values) => {
    expect(select(query, bookstore)).toEqual(values)
  })

  test('$..* picks each member and element', () => {
    expect(select('$..*', bookstore)).toHaveLength(27)
  })
})

describe('selectors, by the examples of RFC 9535 sections 2.3 to 2.6', () => {
  const letters = [...'abcdefg']
  const named = { o: { 'j j': { 'k.k': 3 } }, "'": { '@': 2 } }
  const nested = { o: { j: 1, k: 2 }, a: [5, 3, [{ j: 4 }, { k: 6 }]] }
  const nulls = { a: null, b: [null], c: [{}], null: 1 }

  // proves C6.32
  test.each([
    ["$.o['j j']", named, [{ 'k.k': 3 }]],
    ["$.o['j j']['k.k']", named, [3]],
    ['$.o["j j"]["k.k"]', named, [3]],
    [`$["'"]["@"]`, named, [2]],
    ['$.o[*, *]', nested, [1, 2, 1, 2]],
    ['$[1]', letters, ['b']],
    ['$[-2]', letters, ['f']],
    ['$[7]', letters, []],
    ['$[-8]', letters, []],
    ['$[1:3]', letters, ['b', 'c']],
    ['$[5:]', letters, ['f', 'g']],
    ['$[1:5:2]', letters, ['b', 'd']],
    ['$[5:1:-2]', letters, ['f', 'd']],
    ['$[::-1]', letters, [...letters].reverse()],
    ['$[-3:-1]', letters, ['e', 'f']],
    ['$[-99:2]', letters, ['a', 'b']],
    ['$[99:-99:-3]', letters, ['g', 'd', 'a']],
    ['$[3:3]', letters, []],
    ['$[5:1]', letters, []],
    ['$[1:5:0]', letters, []],
    ['$[5:1:0]', letters, []],
    ['$[0:5:0, 1]', letters, ['b']],
    ['$[0:2, 0:2]', letters, ['a', 'b', 'a', 'b']],
    ['$[0:1]', 'text', []],
    ['$[0:1]', nested, []],
    ['$[0]', 'text', []],
    ['$[0, 3]', letters, ['a', 'd']],
    ['$[0:2, 5]', letters, ['a', 'b', 'f']],
    ['$[0, 0]', letters, ['a', 'a']],
    ['$..j', nested, [1, 4]],
    ['$..[0]', nested, [5, { j: 4 }]],
    ['$..o', nested, [{ j: 1, k: 2 }]],
    ['$.a..[0, 1]', nested, [5, 3, { j: 4 }, { k: 6 }]],
    ['$.a', nulls, [null]],
    ['$.a[0]', nulls, []],
    ['$.a.d', nulls, []],
    ['$.b[0]', nulls, [null]],
    ['$.b[*]', nulls, [null]],
    ['$.b[?@]', nulls, [null]],
    ['$.b[?@==null]', nulls, [null]],
    ['$.c[?@.d==null]', nulls, []],
    ['$.null', nulls, [1]],
    ['$[0]', { 0: 'a' }, []],
    ['$["0"]', letters, []],
    ['$.length', letters, []],
    ['$.a', 'text', []],
    ['$', 'text', ['text']],
    ['$.*', 'text', []],
  ])('%s', (query, data, values) => {
    expect(select(query, data)).toEqual(values)
  })
})

describe('filters, by the examples of RFC 9535 section 2.3.5.3', () => {
  const data = {
    a: [3, 5, 1, 2, 4, 6, { b: 'j' }, { b: 'k' }, { b: {} }, { b: 'kilo' }],
    o: { p: 1, q: 2, r: 3, s: 5, t: { u: 6 } },
    e: 'f',
  }

  test.each([
    ["$.a[?@.b == 'kilo']", [{ b: 'kilo' }]],
    ["$.a[?(@.b == 'kilo')]", [{ b: 'kilo' }]],
    ['$.a[?@>3.5]', [5, 4, 6]],
    ['$.a[?@.b]', data.a.slice(6)],
    ['$[?@.*]', [data.a, data.o]],
    ['$[?@[?@.b]]', [data.a]],
    ['$.o[?@<3, ?@<3]', [1, 2, 1, 2]],
    ['$.a[?@<2 || @.b == "k"]', [1, { b: 'k' }]],
    ['$.o[?@>1 && @<4]', [2, 3]],
    ['$.o[?@.u || @.x]', [{ u: 6 }]],
    ['$.a[?@.b == $.x]', [3, 5, 1, 2, 4, 6]],
    ['$.a[?@ == @]', data.a],
    ['$.a[?!@.b]', [3, 5, 1, 2, 4, 6]],
    ['$.a[?!(@ < 5 || @.b)]', [5, 6]],
    ['$.a[?@ < 2 || @ > 5 && @ < 9]', [1, 6]],
    ['$.a[?length(@.b) > 1]', [{ b: 'kilo' }]],
    ['$.a[?length(@.b) == 0]', [{ b: {} }]],
    ['$.o[?count(@.*) == 1]', [{ u: 6 }]],
    ['$.o[?value(@..u) == 6]', [{ u: 6 }]],
    ['$[?value(@..u) == $.missing]', [data.a, 'f']],
    ['$[?length(@) == 1]', ['f']],
    ['$[?length(@) == 10]', [data.a]],
    ['$[?value(@..b) == "j"]', []],
    ['$[?value(@[0]) == 3]', [data.a]],
  ])('%s', (query, values) => {
    expect(select(query, data)).toEqual(values)
  })
})

describe('comparisons, by table 11 of RFC 9535', () => {
  const data = { obj: { x: 'y' }, arr: [2, 3], text: ['a', 'b'] }

  test.each([
    ['$.absent1 == $.absent2', true],
    ['$.absent1 <= $.absent2', true],
    ["$.absent == 'g'", false],
    ['$.absent1 != $.absent2', false],
    ["$.absent != 'g'", true],
    ['1 <= 2', true],
    ['1 > 2', false],
    ["13 == '13'", false],
    ["'a' <= 'b'", true],
    ["'a' > 'b'", false],
    ['$.obj == $.arr', false],
    ['$.obj != $.arr', true],
    ['$.obj == $.obj', true],
    ['$.obj != $.obj', false],
    ['$.arr == $.arr', true],
    ['$.arr != $.arr', false],
    ['$.obj == 17', false],
    ['$.obj != 17', true],
    ['$.obj <= $.arr', false],
    ['$.obj < $.arr', false],
    ['$.obj <= $.obj', true],
    ['$.arr <= $.arr', true],
    ['1 <= $.arr', false],
    ['1 >= $.arr', false],
    ['1 > $.arr', false],
    ['1 < $.arr', false],
    ['2 >= 1', true],
    ['1 >= 1', true],
    ['1 >= 2', false],
    ['2 <= 1', false],
    ['true == true', true],
    ['true == false', false],
    ['false == null', false],
    ["'ab' == $.arr", false],
    ["$.arr == 'ab'", false],
    ['$.obj == null', false],
    ['true <= true', true],
    ['true > true', false],
    ['1 == 1.0', true],
    ['-0 == 0', true],
    ['1e2 == 100', true],
    ['12345678901234567890 == 12345678901234567891', false],
    ["'' < 'a'", true],
    ["'ab' < 'abc'", true],
    ["'b' < 'ab'", false],
    ["'ab' < 'ab'", false],
    ["'abc' < 'ab'", false],
    ["$.text == 'ab'", false],
    ["'ab' == $.text", false],
    ["$.text < 'b'", false],
    ["'a' < $.text", false],
    ["null < 'a'", false],
    ["'a' < null", false],
    ['null < 1', false],
    ['1 < null', false],
    ['$.absent < 1', false],
    ['1 < $.absent', false],
    ["'a' < '\uffff'", true],
    ["'\u{10fffe}' < '\u{10ffff}'", true],
    ["'\u{10ffff}' < '\u{10fffe}'", false],
    // Compares code points, unlike UTF-16: U+FFFF is before U+1F600.
    ["'\uffff' < '😀'", true],
    ["'😀' < '\uffff'", false],
    ["'😀' < '😃'", true],
    ["'\uffff' < '\u{10000}'", true],
  ])('%s is %p', (comparison, holds) => {
    expect(select(`$[?${comparison}]`, data)).toHaveLength(holds ? 3 : 0)
  })

  test('objects are equal whatever the order of their members', () => {
    const equal = parseJson('[[{"a":1,"b":[1.0]},{"b":[1],"a":1}],[{"a":1},{"b":1}],[{"a":1},{}]]')
    expect(selectFrom('$[?@[0] == @[1]]', equal)).toHaveLength(1)
    const lists = parseJson('[[[1,2],[1,3]],[[1],[1,2]],[[1,[2]],[1,[2]]]]')
    expect(selectFrom('$[?@[0] == @[1]]', lists)).toHaveLength(1)
  })

  test('an object is not equal to one that has more members, from either side', () => {
    const pairs = parseJson('[[{},{"a":1}],[{"a":1},{}],[{"a":1},{"b":1}],[{"a":1},{"a":2}]]')
    expect(selectFrom('$[?@[0] == @[1]]', pairs)).toEqual([])
  })
})

describe('the bounds of a walk', () => {
  test('stops as soon as enough is found', () => {
    const data = Array.from({ length: 60_000 }, () => 1)
    expect(selectFrom('$..*', data, 2)).toEqual([1, 1])
    const members = new Map(data.map((value, index) => [`k${index}`, value]))
    expect(selectFrom('$.*', members, 2)).toEqual([1, 1])
  })

  test.each([
    ['$["a","a","a"]', { a: 1 }],
    ['$[0,0,0]', [1, 2]],
    ['$[0:9]', [1, 2, 3]],
    ['$[0:1,0:1,0:1]', [1, 2]],
    ['$[::-1]', [3, 2, 1]],
    ['$[?@ > 0]', [1, 2, 3]],
    ['$[?@ > 0]', { a: 1, b: 2, c: 3 }],
    ['$[*][*]', [[1, 2], [3], [4]]],
    ['$.*.*', { a: { x: 1, y: 2 }, b: { x: 3 } }],
    ['$[*][?@ > 0]', [[1, 2], [3], [4]]],
    ['$[0:2][0:2]', [[1, 2], [3]]],
    ['$..a', { a: 1, b: { a: 2, c: [{ a: 3 }] } }],
    ['$..a', [[{ a: 1 }], [{ a: 2 }], { a: 3 }]],
    ['$..[0]', [1, [2, [3]]]],
  ])('%s of %j stops at the first value that is found', (query, data) => {
    expect(selectFrom(query, fromPlain(data), 1)).toEqual([1])
  })

  test.each(['$..*', '$..[?@ == 2]', '$[?count($..*) == 1]', '$[0:60000]', '$[?@ == $]'])(
    '%s ends early on a large value',
    query => {
      const data = Array.from({ length: 60_000 }, () => 1)
      expectRefusal(() => selectFrom(query, data), ['mask'])
    },
  )
})
