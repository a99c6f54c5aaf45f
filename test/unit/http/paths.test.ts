/**
 * Paths and patterns. Source: RFC 3986 section 2.4; hardening H28.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compilePath, pathOf } from '../../../src/http/paths.ts'

describe('the path of an address', () => {
  test.each([
    ['http://localhost/tokens/a?b=c', '/tokens/a'],
    ['http://h/', '/'],
    ['http://h/?a=/b', '/'],
    ['https://h:1/a%2Fb', '/a%2Fb'],
    ['http://user@h//a//', '//a//'],
    ['/tokens/a?b', '/tokens/a'],
    ['/', '/'],
    ['/?http://h/a', '/'],
  ])('%s is %s', (url, path) => {
    expect(pathOf(url)).toBe(path)
  })
})

describe('a pattern', () => {
  test('gives what stands in the place of its names, decoded once', () => {
    const read = compilePath('/a/:one/b/:two')
    expect(read('/a/1/b/2')).toEqual({ one: '1', two: '2' })
    expect(read('/a/1/b/2/')).toEqual({ one: '1', two: '2' })
    expect(read('/a/%252F/b/%2F')).toEqual({ one: '%2F', two: '/' })
    expect(read('/a/+/b/%C3%A9')).toEqual({ one: '+', two: 'é' })
  })

  test.each([
    ['/a/1/b'],
    ['/a/1/b/2/c'],
    ['/a//b/2'],
    ['/a/1/b//'],
    ['/a/1/c/2'],
    ['/A/1/b/2'],
    ['a/1/b/2'],
    ['/a/%/b/2'],
    ['/a/%ff/b/2'],
    ['/a/%c0%ae/b/2'],
    [''],
    ['/'],
  ])('does not match %p', path => {
    expect(compilePath('/a/:one/b/:two')(path)).toBeUndefined()
  })

  test('with one name amid it matches as one with more does', () => {
    const read = compilePath('/a/:one/b')
    expect([read('/a/1/b'), read('/a/1/b/')]).toEqual([{ one: '1' }, { one: '1' }])
    for (const path of ['/a/1', '/a/1/c', '/a//b', '/a/1/b/c', '/a/:one']) {
      expect([path, read(path)]).toEqual([path, undefined])
    }
  })

  test('with one name, at its end, matches as one with more does', () => {
    const read = compilePath('/v/a/:one')
    expect([read('/v/a/1'), read('/v/a/1/'), read('/v/a/%2F')]).toEqual([
      { one: '1' },
      { one: '1' },
      { one: '/' },
    ])
    const others = ['/v/a', '/v/a/', '/v/a//', '/v/a/1/2', '/v/a/1//', '/V/a/1', 'v/a/1', '/v//a/1']
    for (const path of [...others, '/v/a/%', '/v/a/%ff', '', '/']) {
      expect([path, read(path)]).toEqual([path, undefined])
    }
  })

  test('without names matches itself alone', () => {
    const read = compilePath('/a/b')
    expect([read('/a/b'), read('/a/b/')]).toEqual([{}, {}])
    for (const path of ['/a', '/a/b/c', '/a/b//', '//a/b', '/a%2Fb', '/a/B', '']) {
      expect(read(path)).toBeUndefined()
    }
  })

  test('gives back any text that was encoded into it', () => {
    const read = compilePath('/tokens/:id')
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter(made => made.isWellFormed())
    fc.assert(
      fc.property(text, id => {
        expect(read(`/tokens/${encodeURIComponent(id)}`)).toEqual({ id })
      }),
    )
  })
})
