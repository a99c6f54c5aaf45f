import { describe, expect, test } from 'bun:test'
import {
  evaluate,
  expectDataRefusal,
  expectParseRefusal,
  filter,
} from '../../../../support/expressions.ts'

describe('filters over text', () => {
  // proves C6.38
  test.each([
    ['abc', 'upcase', 'ABC'],
    ['straße', 'upcase', 'STRASSE'],
    ['ABC', 'downcase', 'abc'],
    ['my TITLE', 'capitalize', 'My title'],
    ['😀a', 'capitalize', '😀a'],
    ['', 'capitalize', ''],
    [' \n a b \t', 'strip', 'a b'],
    [' a ', 'lstrip', 'a '],
    [' a ', 'rstrip', ' a'],
    ['a', "append: 'b'", 'ab'],
    ['a', "prepend: 'b'", 'ba'],
    ['a', 'append: 1', 'a1'],
    ['a', 'append: nil', 'a'],
    ['a-b-c', "remove: '-'", 'abc'],
    ['a-b-c', "remove_first: '-'", 'ab-c'],
    ['abc', "remove: ''", 'abc'],
    ['abc', "remove: 'x'", 'abc'],
    ['aaa', "remove: 'aa'", 'a'],
    ['a-b-c', "replace: '-', '+'", 'a+b+c'],
    ['a-b-c', "replace_first: '-', '+'", 'a+b-c'],
    ['abc', "replace_first: '-', '+'", 'abc'],
    ['abc', "replace: '-', '+'", 'abc'],
    ['a-b', "replace: '-'", 'ab'],
    ['a-b', "replace_first: '-'", 'ab'],
    ['a.b', "replace: '.', '$&'", 'a$&b'],
    ['a.b', "replace_first: '.', '$&'", 'a$&b'],
    ['needed, needle, needles', "replace: 'needle', 'pin'", 'needed, pin, pins'],
    ['needed needle needle', "replace_first: 'needle', 'pin'", 'needed pin needle'],
    ['needed needle needle', "remove: 'needle'", 'needed  '],
    ['needneedle', "remove_first: 'needle'", 'need'],
    ['the need', "remove: 'needle'", 'the need'],
    ['anneedlebneedleneed', "split: 'needle'", ['an', 'b', 'need']],
    ['ababababc', "replace: 'ababc', '-'", 'abab-'],
    ['a😀b', "replace: '', '-'", 'a-😀-b'],
    ['ab', "replace_first: '', '-'", '-ab'],
    ['a,b,,c,,', "split: ','", ['a', 'b', '', 'c']],
    [',a', "split: ','", ['', 'a']],
    ['a😀b', "split: ''", ['a', '😀', 'b']],
    ['abc', "split: 'x'", ['abc']],
    ['', "split: ','", []],
    [null, "split: ','", []],
    ['hello world', 'truncate: 8', 'hello...'],
    ['hello world', 'truncate: 11', 'hello world'],
    ['hello world', "truncate: 6, '…'", 'hello…'],
    ['hello world', 'truncate: 2', '...'],
    ['hello world', 'truncate: 0', '...'],
    ['hello', 'truncate: -1', '...'],
    ['😀😃😄😁', "truncate: 3, '.'", '😀😃.'],
    ['x'.repeat(51), 'truncate', `${'x'.repeat(47)}...`],
    [1234567, "truncate: 3, ''", '123'],
    [123, 'truncate: 3', 123],
    ['one two three', 'truncatewords: 2', 'one two...'],
    ['one two three', 'truncatewords: 3', 'one two three...'],
    ['one two three', 'truncatewords: 4', 'one two three'],
    ['  one \n two ', 'truncatewords: 9', 'one two '],
    ['one two', "truncatewords: 0, '!'", 'one!'],
    ['a '.repeat(16).trim(), 'truncatewords', `${'a '.repeat(15).trim()}...`],
    ['a '.repeat(14).trim(), 'truncatewords', 'a '.repeat(14).trim()],
    [null, 'upcase', ''],
    [true, 'upcase', 'TRUE'],
    [['b', 'a'], 'upcase', '["B","A"]'],
    [{ b: 1, a: 2 }, "append: '!'", '{"a":2,"b":1}!'],
  ])('%j | %s is %j', (data, filters, output) => {
    expect(filter(filters, data)).toEqual(output)
  })

  test('arguments may be paths', () => {
    const data = { text: 'a-b', cut: '-', put: '+', most: 2 }
    expect(evaluate('{{ data.text | replace: data.cut, data.put }}', data)).toBe('a+b')
    expect(evaluate('{{ data.text | append: data.missing }}', data)).toBe('a-b')
    expect(evaluate("{{ data.text | truncate: data.most, '' }}", data)).toBe('a-')
  })

  test.each([
    'upcase: 1',
    "strip: 'x'",
    'append',
    'remove',
    'replace',
    "replace: 'a', 'b', 'c'",
    'split',
    "truncate: 1, 'a', 'b'",
  ])('refuses %s', filters => {
    expectParseRefusal(`{{ data | ${filters} }}`)
  })

  test.each(['truncate: 1.5', "truncate: 'x1'", 'truncate: nil', 'truncatewords: true'])(
    'fails on %s, whose length is no integer',
    filters => {
      if (filters.includes('x1')) expect(filter(filters, 'abc')).toBe('...')
      else expectDataRefusal(filters, 'abc')
    },
  )
})
