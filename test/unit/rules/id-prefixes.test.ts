/**
 * Beginnings of ids, and which texts can begin a random one.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { idPrefixes, isUuid, longestPrefix, mayBeginUuid } from '../../../src/rules/token-ids.ts'
import { uuidOf } from '../../../src/lib/bytes.ts'
import { seededBytes } from '../../support/seeded.ts'

describe('the beginnings of an id', () => {
  test('are taken at a few lengths, up to its own', () => {
    expect(idPrefixes('abc')).toEqual([''])
    expect(idPrefixes('abcd')).toEqual(['', 'abcd'])
    expect(idPrefixes('user-1234567')).toEqual(['', 'user', 'user-123', 'user-1234567'])
    expect(idPrefixes('x'.repeat(400)).map(({ length }) => length)).toEqual([
      0, 4, 8, 12, 16, 24, 32,
    ])
  })

  test('count characters, and cut none in two', () => {
    expect(idPrefixes('a😀b😀c')).toEqual(['', 'a😀b😀'])
    expect(idPrefixes('😀'.repeat(40)).at(-1)).toBe('😀'.repeat(32))
  })

  test('that an asked one has in common with every id that begins so', () => {
    expect(longestPrefix('use')).toBe('')
    expect(longestPrefix('user-12')).toBe('user')
    expect(longestPrefix('user-123')).toBe('user-123')
  })
})

describe('a random id', () => {
  test('begins with each of its own beginnings', () => {
    const id = uuidOf(seededBytes(1)(16))
    for (let length = 0; length <= id.length; length += 1) {
      expect(mayBeginUuid(id.slice(0, length))).toBe(true)
    }
    expect(isUuid(id)).toBe(true)
    expect(mayBeginUuid(`${id}0`)).toBe(false)
  })

  test.each([
    'user',
    'A',
    'deadbeef0',
    '00000000-0000-1',
    '00000000-0000-4000-7',
    '00000000-0000-4000-8000-00000000000g',
  ])('never begins with %s', text => {
    expect(mayBeginUuid(text)).toBe(false)
    expect(isUuid(text)).toBe(false)
  })
})
