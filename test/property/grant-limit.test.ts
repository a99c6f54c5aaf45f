import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  conditionAttributes,
  conditionOperators,
  decideTransform,
  transforms,
  type Grants,
  type Place,
  type Rule,
} from '../../src/domain/access.ts'
import { grantsWithin, isWithin } from '../../src/domain/grant-limit.ts'
import { tokenPermissions } from '../../src/domain/permissions.ts'

// Few names, so that areas often touch.
const container = fc.constantFrom('/', '/a/', '/a/b/', '/ab/', '/b/')
const beginning = fc.constantFrom('/', '/a', '/a/', '/a/b', '/ab', '/b/')
const id = fc.constantFrom('a', 'ab', 'b')
const permission = fc.constantFrom(...tokenPermissions.slice(0, 3), 'token:use' as const)

const condition = fc.oneof(
  fc.record({
    attribute: fc.constant(conditionAttributes[0]),
    operator: fc.constantFrom(...conditionOperators),
    value: id,
  }),
  fc.record({
    attribute: fc.constant(conditionAttributes[1]),
    operator: fc.constant(conditionOperators[0]),
    value: beginning,
  }),
  fc.record({
    attribute: fc.constant(conditionAttributes[1]),
    operator: fc.constant(conditionOperators[1]),
    value: container,
  }),
)

const onContainer = fc.record({ container })
const scope = fc.oneof(
  onContainer,
  fc.record({ conditions: fc.array(condition, { minLength: 1, maxLength: 3 }) }),
)

const grantsOf = (scopes: fc.Arbitrary<Partial<Rule>>): fc.Arbitrary<Grants> => {
  const base = fc.record({
    transform: fc.constantFrom(...transforms),
    permissions: fc.uniqueArray(permission, { minLength: 1, maxLength: 2 }),
  })
  const rules = fc
    .array(fc.tuple(base, scopes), { maxLength: 4 })
    .map(drawn =>
      drawn.map(([rule, scoped], index): Rule => ({ ...rule, ...scoped, priority: index + 1 })),
    )
  return fc.record({ permissions: fc.uniqueArray(permission, { maxLength: 2 }), rules })
}

const place: fc.Arbitrary<Place> = fc.record({
  id,
  containers: container.map(text => [text]),
})

const rank = (grants: Grants, held: (typeof tokenPermissions)[number], at: Place): number => {
  const transform = decideTransform(grants, held, at)
  return transform === undefined ? -1 : transforms.indexOf(transform)
}

describe('laws of bound grants', () => {
  test('what is within a limit never shows more than the limit, anywhere', () => {
    let within = 0
    fc.assert(
      fc.property(
        grantsOf(scope),
        grantsOf(fc.oneof({ weight: 9, arbitrary: onContainer }, { weight: 1, arbitrary: scope })),
        fc.array(place, { minLength: 8, maxLength: 8 }),
        (grants, limit, places) => {
          if (!isWithin(grants, limit)) return
          within += 1
          for (const at of places) {
            for (const held of tokenPermissions) {
              expect(rank(grants, held, at)).toBeLessThanOrEqual(rank(limit, held, at))
            }
          }
        },
      ),
      { numRuns: 3_000 },
    )
    expect(within).toBeGreaterThan(100)
  })

  test('what is left within a limit shows no more than the limit, nor than there was', () => {
    let pruned = 0
    fc.assert(
      fc.property(
        grantsOf(scope),
        grantsOf(onContainer),
        fc.array(place, { minLength: 8, maxLength: 8 }),
        (grants, limit, places) => {
          const left = grantsWithin(grants, limit)
          const isPruned =
            left.permissions.length + left.rules.length > 0 && !isWithin(grants, limit)
          if (isPruned) pruned += 1
          for (const at of places) {
            for (const held of tokenPermissions) {
              const shown = rank(left, held, at)
              expect(shown).toBeLessThanOrEqual(rank(limit, held, at))
              expect(shown).toBeLessThanOrEqual(rank(grants, held, at))
            }
          }
        },
      ),
      { numRuns: 3_000 },
    )
    expect(pruned).toBeGreaterThan(100)
  })

  test('grants by containers are within themselves, whatever their order', () => {
    fc.assert(
      fc.property(grantsOf(onContainer), grants => {
        expect(isWithin(grants, grants)).toBe(true)
        expect(grantsWithin(grants, grants)).toEqual(grants)
      }),
    )
  })

  test('one rule is within itself, and within any limit that has it first', () => {
    fc.assert(
      fc.property(
        grantsOf(onContainer),
        permission,
        fc.constantFrom(...transforms),
        container,
        (limit, held, transform, on) => {
          const rule: Rule = { priority: 1, container: on, transform, permissions: [held] }
          const grants = { permissions: [], rules: [rule] }
          const after = limit.rules.map(other => ({ ...other, priority: other.priority + 1 }))
          expect(isWithin(grants, grants)).toBe(true)
          expect(isWithin(grants, { ...limit, rules: [rule, ...after] })).toBe(true)
        },
      ),
    )
  })
})
