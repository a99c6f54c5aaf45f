/**
 * Paths and patterns. Source: RFC 3986 section 2.4; hardening H28.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { pathOf, readParams } from '../../../src/http/request.ts'

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

const at = (path: string): Request => new Request(`http://localhost${path}`)

/** Makes a request as a server marks it after its router has matched it. */
const routed = (path: string, params: Readonly<Record<string, string>>): Request =>
  Object.assign(at(path), { params })

describe('a pattern', () => {
  test('gives what stands in the place of its names, decoded once', () => {
    const read = (path: string) => readParams('/a/:one/b/:two', at(path))
    expect(read('/a/1/b/2')).toEqual({ one: '1', two: '2' })
    expect(read('/a/1/b/2/')).toEqual({ one: '1', two: '2' })
    expect(read('/a/%252F/b/%2F')).toEqual({ one: '%2F', two: '/' })
    expect(read('/a/+/b/%C3%A9')).toEqual({ one: '+', two: 'é' })
  })

  test.each([['/a//b/2'], ['/a/1/b//'], ['/a/%/b/2'], ['/a/%ff/b/2'], ['/a/%c0%ae/b/2']])(
    'has nothing at %p',
    path => {
      expect(() => readParams('/a/:one/b/:two', at(path))).toThrow('nothing at this address')
    },
  )

  test('with a name amid it gives that one', () => {
    const read = (path: string) => readParams('/a/:one/b', at(path))
    expect([read('/a/1/b'), read('/a/1/b/')]).toEqual([{ one: '1' }, { one: '1' }])
    expect(() => read('/a//b')).toThrow('nothing at this address')
  })

  test('counts from the end, whatever a host has put before it', () => {
    expect(readParams('/v/a/:one', at('/v/a/1'))).toEqual({ one: '1' })
    expect(readParams('/a/:one', at('/v/w/a/1/'))).toEqual({ one: '1' })
  })

  test('without names has no parameters', () => {
    expect(readParams('/a/b', at('/a/b'))).toEqual({})
  })

  test('gives back any text that was encoded into it', () => {
    const text = fc.string({ unit: 'binary', minLength: 1 }).filter(made => made.isWellFormed())
    fc.assert(
      fc.property(text, id => {
        // The address of a request cannot say a dot alone.
        fc.pre(!/^\.\.?$/.test(id))
        expect(readParams('/tokens/:id', at(`/tokens/${encodeURIComponent(id)}`))).toEqual({ id })
      }),
    )
  })
})

describe('a path that the router of a server has read', () => {
  test('agrees with the address', () => {
    expect(readParams('/tokens/:id', routed('/tokens/1%2f', { id: '1/' }))).toEqual({ id: '1/' })
    // It has matched the address itself, which the framework takes for the id of a token.
    expect(readParams('/tokens/:id', routed('/tokens/search', {}))).toEqual({ id: 'search' })
  })

  test('H28: shows what was moved on the way, which leads nowhere', () => {
    for (const [pattern, path, params] of [
      ['/tokens/:id', '/tokens/b', { id: 'a\\..\\b' }],
      ['/applications', '/applications', { id: '..\\applications' }],
      ['/applications/:id', '/applications/regenerate', { id: '.' }],
    ] as const) {
      expect(() => readParams(pattern, routed(path, params))).toThrow('nothing at this address')
    }
  })
})
