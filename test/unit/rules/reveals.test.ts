/**
 * Tells whether all that a caller may ask about is revealed to it.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import {
  type Grants,
  type Rule,
  type Transform,
  revealsAll,
  revealsEverywhere,
  seesAllData,
} from '../../../src/rules/access.ts'

const permission = 'token:search'

const rule = (container: string, transform: Transform, more: Partial<Rule> = {}): Rule => ({
  priority: 1,
  container,
  transform,
  permissions: [permission],
  ...more,
})

const grants = (rules: readonly Rule[], permissions: Grants['permissions'] = []): Grants => ({
  permissions,
  rules,
})

const { container: _, ...unscoped } = rule('/', 'reveal')
const masksAll = rule('/', 'mask')
const among = { attribute: 'id', operator: 'equals', value: 'a' } as const

describe('all is revealed', () => {
  test.each<[string, boolean, Grants]>([
    ['by a rule that covers everything', true, grants([rule('/', 'reveal')])],
    ['by one without conditions', true, grants([{ ...unscoped, conditions: [] }])],
    ['by rules on some containers alone', true, grants([rule('/a/', 'reveal')])],
    [
      'by one whose conditions are none, whatever is behind it',
      true,
      grants([{ ...unscoped, conditions: [] }, masksAll]),
    ],
    [
      'not by one on some containers, whatever its conditions',
      false,
      grants([rule('/a/', 'reveal', { conditions: [] }), masksAll]),
    ],
    ['not by one with conditions', false, grants([{ ...unscoped, conditions: [among] }, masksAll])],
    ['not by one without a reach', false, grants([unscoped, masksAll])],
    ['to a caller who may ask for nothing', true, grants([])],
    ['not by a plain permission', false, grants([], [permission])],
    [
      'not where that is behind a rule on some',
      false,
      grants([rule('/a/', 'reveal')], [permission]),
    ],
    ['where that is behind a rule on all', true, grants([rule('/', 'reveal')], [permission])],
    ['not by a rule that masks some', false, grants([rule('/a/', 'mask'), rule('/', 'reveal')])],
    [
      'not by a rule that redacts some',
      false,
      grants([rule('/a/', 'redact'), rule('/', 'reveal')]),
    ],
    ['whatever is behind a rule on all', true, grants([rule('/', 'reveal'), rule('/a/', 'mask')])],
    [
      'whatever rules without the permission do',
      true,
      grants([rule('/', 'mask', { permissions: ['token:read'] }), rule('/', 'reveal')]),
    ],
  ])('%s: %p', (__, expected, held) => {
    expect(revealsAll(held, permission)).toBe(expected)
  })

  test.each<[string, boolean, Grants]>([
    ['by a rule that covers everything', true, grants([rule('/', 'reveal')])],
    ['behind another that reveals', true, grants([rule('/a/', 'reveal'), rule('/', 'reveal')])],
    ['not by rules on some containers alone', false, grants([rule('/a/', 'reveal')])],
    ['not to a caller who may ask for nothing', false, grants([])],
    ['not behind one that masks', false, grants([rule('/a/', 'mask'), rule('/', 'reveal')])],
    [
      'whatever rules without the permission do',
      true,
      grants([rule('/', 'mask', { permissions: ['token:read'] }), rule('/', 'reveal')]),
    ],
  ])('everywhere %s: %p', (__, expected, held) => {
    expect(revealsEverywhere(held, permission)).toBe(expected)
  })

  test('by the one plain permission that reveals', () => {
    expect(revealsAll(grants([], ['token:use']), 'token:use')).toBe(true)
    expect(revealsAll(grants([], ['token:read']), 'token:read')).toBe(false)
  })

  test('everywhere by that one, unless a rule on some shows less', () => {
    const use = { permissions: ['token:use'] } as const
    expect(revealsEverywhere(grants([], ['token:use']), 'token:use')).toBe(true)
    expect(revealsEverywhere(grants([], ['token:read']), 'token:read')).toBe(false)
    const reveals = grants([rule('/a/', 'reveal', use)], ['token:use'])
    expect(revealsEverywhere(reveals, 'token:use')).toBe(true)
    const masks = grants([rule('/a/', 'mask', use)], ['token:use'])
    expect(revealsEverywhere(masks, 'token:use')).toBe(false)
  })

  test.each<[boolean, Transform]>([
    [true, 'reveal'],
    [false, 'mask'],
  ])('all data: %p where reads %s it everywhere', (expected, transform) => {
    const reads = rule('/', transform, { permissions: ['token:read'] })
    expect(seesAllData(grants([reads]))).toBe(expected)
  })
})
