import { expect, test } from 'bun:test'
import type { Grants } from '../../../src/rules/access.ts'
import { explainTransform } from '../../../src/rules/explain.ts'

const place = { id: 'order-17', containers: ['/pci/high/'] }

const grants: Grants = {
  permissions: ['token:search'],
  rules: [
    { priority: 5, container: '/pci/', transform: 'reveal', permissions: ['token:use'] },
    { priority: 6, container: '/bank/', transform: 'reveal', permissions: ['token:read'] },
    {
      priority: 7,
      conditions: [
        { attribute: 'id', operator: 'starts_with', value: 'order-' },
        { attribute: 'container', operator: 'equals', value: '/pci/' },
      ],
      transform: 'reveal',
      permissions: ['token:read'],
    },
    { priority: 8, container: '/', transform: 'redact', permissions: ['token:read'] },
    { priority: 9, container: '/pci/high/', transform: 'reveal', permissions: ['token:read'] },
  ],
}

test('each rule says why it does not decide, up to the one that does', () => {
  const { transform, decidedBy, steps } = explainTransform(grants, 'token:read', place)
  expect([transform, decidedBy]).toEqual(['redact', 'rule 3'])
  expect(steps).toEqual([
    { rule: 0, holdsPermission: false, covers: true, decides: false },
    { rule: 1, holdsPermission: true, covers: false, decides: false },
    {
      rule: 2,
      holdsPermission: true,
      covers: false,
      conditions: [
        { attribute: 'id', operator: 'starts_with', holds: true },
        { attribute: 'container', operator: 'equals', holds: false },
      ],
      decides: false,
    },
    { rule: 3, holdsPermission: true, covers: true, decides: true },
    { rule: 4, holdsPermission: true, covers: true, decides: false },
    { rule: 'plain', holdsPermission: false, covers: true, decides: false },
  ])
})

test('the plain permission decides where no rule does', () => {
  const { transform, decidedBy, steps } = explainTransform(grants, 'token:search', place)
  expect([transform, decidedBy]).toEqual(['mask', 'token:search'])
  expect(steps.filter(({ decides }) => decides)).toEqual([
    { rule: 'plain', holdsPermission: true, covers: true, decides: true },
  ])
})

test('nothing decides over a hidden token', () => {
  const { transform, decidedBy, steps } = explainTransform(grants, 'token:delete', place)
  expect([transform, decidedBy]).toEqual([undefined, 'none'])
  expect(steps.some(({ decides }) => decides)).toBe(false)
})

test('the plain permission does not decide where a rule does', () => {
  const both: Grants = { ...grants, permissions: ['token:read'] }
  const { transform, decidedBy, steps } = explainTransform(both, 'token:read', place)
  expect([transform, decidedBy]).toEqual(['redact', 'rule 3'])
  const plain = { rule: 'plain', holdsPermission: true, covers: true, decides: false } as const
  expect(steps.at(-1)).toEqual(plain)
})
