import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  conditionAttributes,
  conditionOperators,
  decideTransform,
  transforms,
  type Grants,
  type RuledPlace,
  type Rule,
} from '../../src/rules/access.ts'
import { isWithin, grantsWithin } from '../../src/rules/grants.ts'
import { tokenPermissions } from '../../src/rules/permissions.ts'

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

// Every place that the names above can tell apart.
const containers = [
  '/',
  '/a/',
  '/a/b/',
  '/a/b/c/',
  '/a/c/',
  '/ab/',
  '/ab/c/',
  '/b/',
  '/b/c/',
  '/c/',
]
const places: readonly RuledPlace[] = containers.flatMap(text =>
  ['a', 'ab', 'abc', 'b', 'c'].map(name => ({ id: name, containers: [text] })),
)

const rank = (grants: Grants, held: (typeof tokenPermissions)[number], at: RuledPlace): number => {
  const transform = decideTransform(grants, held, at)
  return transform === undefined ? -1 : transforms.indexOf(transform)
}

/** Compares by brute force: in each place, for each permission. */
const showsNoMore = (grants: Grants, limit: Grants): boolean =>
  places.every(at =>
    tokenPermissions.every(held => rank(grants, held, at) <= rank(limit, held, at)),
  )

const limits = grantsOf(
  fc.oneof({ weight: 9, arbitrary: onContainer }, { weight: 1, arbitrary: scope }),
)

describe('laws of bound grants', () => {
  test('grants within a limit never show more than the limit, anywhere', () => {
    let within = 0
    fc.assert(
      fc.property(grantsOf(scope), limits, (grants, limit) => {
        if (!isWithin(grants, limit)) return
        within += 1
        expect(showsNoMore(grants, limit)).toBe(true)
      }),
      { numRuns: 3_000 },
    )
    expect(within).toBeGreaterThan(100)
  })

  // proves C12.7, E5.2, S47
  test('grants cut to a limit show no more than the limit, nor than there was', () => {
    let left = 0
    let lost = 0
    fc.assert(
      fc.property(grantsOf(scope), limits, (grants, limit) => {
        const pruned = grantsWithin(grants, limit)
        expect([showsNoMore(pruned, limit), showsNoMore(pruned, grants)]).toEqual([true, true])
        expect(isWithin(pruned, limit)).toBe(true)
        if (pruned.rules.length > 0) left += 1
        if (pruned.rules.length < grants.rules.length) lost += 1
      }),
      { numRuns: 3_000 },
    )
    expect([left > 100, lost > 100]).toEqual([true, true])
  })

  test('rules on containers are within a limit exactly where they show no more', () => {
    let within = 0
    fc.assert(
      fc.property(grantsOf(onContainer), grantsOf(onContainer), (grants, limit) => {
        const showsMore = !showsNoMore(grants, limit)
        // A rule that decides nowhere bounds nothing, whatever it shows.
        expect(isWithin(grants, limit)).toBe(!showsMore)
        if (!showsMore) within += 1
      }),
      { numRuns: 3_000 },
    )
    expect(within).toBeGreaterThan(100)
  })

  test('grants by containers are within themselves, whatever their order', () => {
    fc.assert(
      fc.property(grantsOf(onContainer), grants => {
        expect(isWithin(grants, grants)).toBe(true)
        expect(grantsWithin(grants, grants)).toEqual(grants)
      }),
    )
  })
})
