import { expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  decidedBy,
  decideTransform,
  plainTransform,
  type Grants,
  type RuledPlace,
  type Transform,
} from '../../src/rules/access.ts'
import { explainTransform, type Explanation } from '../../src/rules/explain.ts'
import { tokenPermissions, type TokenPermission } from '../../src/rules/permissions.ts'
import { grantsOfAnyKind, places } from '../support/token-world.ts'

/** Returns what the steps alone tell: the first that holds the permission and covers decides. */
function told({ steps }: Explanation, { rules }: Grants, permission: TokenPermission) {
  const first = steps.find(({ holdsPermission, covers }) => holdsPermission && covers)
  const deciding = steps.filter(({ decides }) => decides)
  if (deciding.length > 1 || deciding[0] !== first) return 'another step'
  if (first === undefined) return undefined
  return first.rule === 'plain' ? plainTransform(permission) : rules[first.rule]?.transform
}

const casesPerRun = 10 * tokenPermissions.length

test('an explanation tells the decision, by its steps as well, in 100,000 cases', () => {
  const seen = new Set<Transform | undefined>()
  const law = (grants: Grants, permission: TokenPermission, place: RuledPlace) => {
    const explained = explainTransform(grants, permission, place)
    const transform = decideTransform(grants, permission, place)
    seen.add(transform)
    const by = decidedBy(grants, permission, place)
    const isTold = told(explained, grants, permission) === transform
    return isTold && explained.transform === transform && explained.decidedBy === by
  }
  const drawn = fc.array(places, { minLength: 10, maxLength: 10 })
  fc.assert(
    fc.property(grantsOfAnyKind, drawn, (grants, at) =>
      at.every(place => tokenPermissions.every(each => law(grants, each, place))),
    ),
    { numRuns: Math.ceil(100_000 / casesPerRun) },
  )
  expect(seen).toEqual(new Set([undefined, 'redact', 'mask', 'reveal']))
})
