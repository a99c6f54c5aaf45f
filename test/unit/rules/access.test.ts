import { describe, expect, test } from 'bun:test'
import {
  atMostMask,
  covers,
  decidedBy,
  decideTransform,
  holdsAnywhere,
  lesserOf,
  rankOf,
  shownTransform,
  type Condition,
  type Rule,
} from '../../../src/rules/access.ts'
import { mayHold, permissions, type ApplicationType } from '../../../src/rules/permissions.ts'

const place = { id: 'order-17', containers: ['/pci/high/'] }
const ruleWith = (over: Partial<Rule>): Rule => ({
  priority: 1,
  transform: 'mask',
  permissions: ['token:read'],
  ...over,
})

describe('a rule with a container', () => {
  // proves C11.12
  test.each([
    ['/', true],
    ['/pci/', true],
    ['/pci/high/', true],
    ['/pci/high/x/', false],
    ['/pci-dev/', false],
    ['/pc/', false],
  ])('on %s covers a token in /pci/high/: %p', (container, expected) => {
    expect(covers(ruleWith({ container }), place)).toBe(expected)
  })
})

describe('a token in several containers', () => {
  const several = { id: 'order-17', containers: ['/bank/', '/pci/high/'] }
  const among = (value: string): Condition => ({
    attribute: 'container',
    operator: 'equals',
    value,
  })

  test.each([
    ['/bank/', true],
    ['/pci/high/', true],
    ['/general/', false],
  ])('is covered by a rule on any of them, such as %s: %p', (container, expected) => {
    expect(covers(ruleWith({ container }), several)).toBe(expected)
    expect(covers(ruleWith({ conditions: [among(container)] }), several)).toBe(expected)
  })
})

describe('a rule with conditions', () => {
  const condition = (
    attribute: Condition['attribute'],
    operator: Condition['operator'],
    value: string,
  ): Condition => ({ attribute, operator, value })

  // proves C11.13
  test.each([
    [[condition('id', 'equals', 'order-17')], true],
    [[condition('id', 'equals', 'order-1')], false],
    [[condition('id', 'starts_with', 'order-1')], true],
    [[condition('id', 'starts_with', 'rder')], false],
    [[condition('container', 'equals', '/pci/high/')], true],
    [[condition('container', 'equals', '/pci/')], false],
    [[condition('container', 'starts_with', '/pci/h')], true],
    [[condition('id', 'starts_with', 'order'), condition('container', 'equals', '/x/')], false],
  ])('%j: %p', (conditions, expected) => {
    expect(covers(ruleWith({ conditions }), place)).toBe(expected)
  })

  test('a rule with neither covers nothing', () => {
    expect(covers(ruleWith({}), place)).toBe(false)
  })
})

describe('the name of what decides', () => {
  const rules = [
    ruleWith({ container: '/elsewhere/' }),
    ruleWith({ container: '/pci/', permissions: ['token:read'] }),
  ]

  test('is that of the rule, of the plain permission, or none', () => {
    const grants = { permissions: ['token:use'] as const, rules }
    expect(decidedBy(grants, 'token:read', place)).toBe('rule 1')
    expect(decidedBy(grants, 'token:use', place)).toBe('token:use')
    expect(decidedBy(grants, 'token:delete', place)).toBe('none')
  })
})

describe('the decision', () => {
  // proves C11.6
  test('is that of the first rule which covers the token and holds the permission', () => {
    const rules = [
      ruleWith({ priority: 1, container: '/bank/', transform: 'reveal' }),
      ruleWith({ priority: 2, container: '/', transform: 'reveal', permissions: ['token:update'] }),
      ruleWith({ priority: 3, container: '/pci/', transform: 'redact' }),
      ruleWith({ priority: 4, container: '/', transform: 'reveal' }),
    ]
    expect(decideTransform({ permissions: ['token:use'], rules }, 'token:read', place)).toBe(
      'redact',
    )
  })

  // proves C11.4
  test('falls back to plain permissions, which mask, and reveal for token:use alone', () => {
    const all = permissions.filter(permission => permission.startsWith('token:'))
    for (const permission of all) {
      const expected = permission === 'token:use' ? 'reveal' : 'mask'
      expect(decideTransform({ permissions: all, rules: [] }, permission, place)).toBe(expected)
    }
  })

  test('is none when neither gives it', () => {
    const rules = [ruleWith({ container: '/bank/' })]
    const grants = { permissions: ['token:create' as const], rules }
    expect(decideTransform(grants, 'token:read', place)).toBeUndefined()
    expect(decideTransform(grants, 'token:delete', place)).toBeUndefined()
  })

  test('knows whether a permission is held at all', () => {
    const updates = ruleWith({ container: '/', permissions: ['token:update'] })
    const rules = [updates, ruleWith({ container: '/' })]
    const grants = { permissions: ['token:create' as const], rules }
    expect(holdsAnywhere(grants, 'token:create')).toBe(true)
    expect(holdsAnywhere(grants, 'token:read')).toBe(true)
    expect(holdsAnywhere(grants, 'token:delete')).toBe(false)
  })

  // proves C11.14
  test('never shows more than masked on writes', () => {
    expect([atMostMask('redact'), atMostMask('mask'), atMostMask('reveal')]).toEqual([
      'redact',
      'mask',
      'mask',
    ])
  })
})

test('of two transforms the lesser shows less, and none shows least', () => {
  const inOrder = [undefined, 'redact', 'mask', 'reveal'] as const
  expect(inOrder.map(rankOf)).toEqual([-1, 0, 1, 2])
  for (const [one, other, lesser] of [
    ['mask', 'reveal', 'mask'],
    ['mask', 'redact', 'redact'],
    ['mask', 'mask', 'mask'],
  ] as const) {
    expect([lesserOf(one, other), lesserOf(other, one)]).toEqual([lesser, lesser])
  }
})

test('asked for less, a caller is shown the lesser, and asked for nothing what was decided', () => {
  const decided = ['redact', 'mask', 'reveal'] as const
  const shownBy = (asked: 'redact' | 'mask' | undefined) =>
    decided.map(transform => shownTransform(transform, asked))
  expect(shownBy(undefined)).toEqual([...decided])
  expect(shownBy('mask')).toEqual(['redact', 'mask', 'mask'])
  expect(shownBy('redact')).toEqual(['redact', 'redact', 'redact'])
})

// proves C11.1
test('each application type may hold exactly its permissions', () => {
  const held = (type: ApplicationType) =>
    permissions.filter(permission => mayHold(type, permission))
  expect(held('public')).toEqual(['token:create', 'token:update'])
  expect(held('private').every(permission => permission.startsWith('token:'))).toBe(true)
  expect(held('private').length).toBe(6)
  expect(held('management').some(permission => permission.startsWith('token:'))).toBe(false)
  expect(held('management').length).toBe(permissions.length - 6)
})
