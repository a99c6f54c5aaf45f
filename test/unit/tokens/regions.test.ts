import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { decideTransform, type Grants, type Rule } from '../../../src/rules/access.ts'
import { showingPermissions } from '../../../src/rules/access-changes.ts'
import { regionsOf, shownIn } from '../../../src/tokens/access/regions.ts'

const containers = ['/', '/a/', '/a/b/', '/a/b/c/', '/a/bc/', '/b/', '/b/a/', '/b/a/d/'] as const

const rules = fc.uniqueArray(
  fc.record({
    container: fc.constantFrom(...containers),
    transform: fc.constantFrom('redact', 'mask', 'reveal'),
    permissions: fc.subarray([...showingPermissions], { minLength: 1 }),
  }),
  { maxLength: 6 },
)

const grants: fc.Arbitrary<Grants> = fc.record({
  permissions: fc.subarray([...showingPermissions]),
  rules: rules.map(drawn => drawn.map((rule, at): Rule => ({ ...rule, priority: at + 1 }))),
})

const places = [...containers, '/a/x/', '/a/b/c/d/', '/a/bcd/', '/c/']

test('each place lies in exactly one region, over which grants decide as over the place', () => {
  const isIn = (place: string, container: string) => place.startsWith(container)
  fc.assert(
    fc.property(grants, grants, (before, after) => {
      const regions = regionsOf({ before, after })
      for (const place of places) {
        const at = { id: 'any', containers: [place] }
        const around = regions.filter(
          ({ container, below }) =>
            isIn(place, container) && !below.some(inner => isIn(place, inner)),
        )
        expect(around).toHaveLength(1)
        for (const region of around) {
          for (const permission of showingPermissions) {
            for (const each of [before, after]) {
              const decided = decideTransform(each, permission, at) ?? 'hidden'
              expect(shownIn(each, permission, region)).toBe(decided)
            }
          }
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('rules with conditions have no regions', () => {
  const [permissions, transform] = [['token:read'], 'mask'] as const
  const rule: Rule = { priority: 1, conditions: [], transform, permissions }
  const after: Grants = { permissions: [], rules: [rule] }
  expect(() => regionsOf({ before: { permissions: [], rules: [] }, after })).toThrow()
})
