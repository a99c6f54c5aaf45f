import { describe, expect, test } from 'bun:test'
import {
  transforms,
  type Grants,
  type RuledPlace,
  type Rule,
  type Transform,
} from '../../../src/rules/access.ts'
import { mayMove, seeingPermissions } from '../../../src/rules/moves.ts'
import type { TokenPermission } from '../../../src/rules/permissions.ts'

const left = { id: 'moving', containers: ['/left/'] }
const entered = { id: 'moving', containers: ['/entered/'] }

const moves = (grants: Grants, from: RuledPlace, to: RuledPlace) =>
  mayMove({ grants, dependsOn: [] }, from, to)

type Shown = Transform | 'nothing'

const shownAs: readonly Shown[] = ['nothing', ...transforms]

/** Grants by which the token may be updated alike in both places, whatever else holds. */
const alike: Rule = {
  priority: 9,
  container: '/',
  transform: 'mask',
  permissions: ['token:update'],
}

const ruleOn = (
  priority: number,
  container: string,
  shown: Shown,
  held: TokenPermission,
): Rule[] =>
  shown === 'nothing' ? [] : [{ priority, container, transform: shown, permissions: [held] }]

const seen = seeingPermissions.filter(permission => permission !== 'token:update')
const table = seen.flatMap(held =>
  shownAs.flatMap(from => shownAs.map(to => [held, from, to] as const)),
)

describe('a move', () => {
  // proves C9.9
  test.each(table)('for %s from %s to %s shows no more or is refused', (held, from, to) => {
    const rules = [...ruleOn(1, '/left/', from, held), ...ruleOn(2, '/entered/', to, held), alike]
    const isAllowed = shownAs.indexOf(to) <= shownAs.indexOf(from)
    expect(moves({ permissions: [], rules }, left, entered)).toBe(isAllowed)
  })

  test.each(shownAs.flatMap(from => shownAs.map(to => [from, to] as const)))(
    'for token:update from %s to %s needs the permission in both',
    (from, to) => {
      const rules = [
        ...ruleOn(1, '/left/', from, 'token:update'),
        ...ruleOn(2, '/entered/', to, 'token:update'),
      ]
      const isAllowed = to !== 'nothing' && shownAs.indexOf(to) <= shownAs.indexOf(from)
      expect(moves({ permissions: [], rules }, left, entered)).toBe(isAllowed)
    },
  )

  test('goes by plain permissions where no rule decides', () => {
    const permissions = ['token:update', 'token:read', 'token:use'] as const
    expect(moves({ permissions, rules: [] }, left, entered)).toBe(true)
    const redacting = ruleOn(1, '/left/', 'redact', 'token:read')
    expect(moves({ permissions, rules: redacting }, left, entered)).toBe(false)
    expect(moves({ permissions, rules: redacting }, entered, left)).toBe(true)
    const masking = ruleOn(1, '/left/', 'mask', 'token:use')
    expect(moves({ permissions, rules: masking }, left, entered)).toBe(false)
  })

  test('counts conditions on containers, and those on ids not at all', () => {
    const conditioned = (attribute: 'id' | 'container', value: string): Rule => ({
      priority: 1,
      conditions: [{ attribute, operator: 'starts_with', value }],
      transform: 'reveal',
      permissions: ['token:read'],
    })
    const byContainer = { permissions: [], rules: [conditioned('container', '/ent'), alike] }
    expect(moves(byContainer, left, entered)).toBe(false)
    expect(moves(byContainer, entered, left)).toBe(true)
    const byId = { permissions: [], rules: [conditioned('id', 'mov'), alike] }
    expect(moves(byId, left, entered)).toBe(true)
  })

  test('shows no more to those behind who moves, who need not hold the permission', () => {
    const backerOf = (rules: readonly Rule[]) => ({
      credential: { ordinal: 1, version: 1, uniques: [] },
      grants: { permissions: [], rules },
    })
    const grants: Grants = { permissions: ['token:update'], rules: [] }
    const blind = backerOf([])
    const seeing = backerOf(ruleOn(1, '/entered/', 'redact', 'token:read'))
    expect(mayMove({ grants, dependsOn: [blind, blind] }, left, entered)).toBe(true)
    expect(mayMove({ grants, dependsOn: [blind, seeing] }, left, entered)).toBe(false)
    expect(mayMove({ grants, dependsOn: [seeing, blind] }, left, entered)).toBe(false)
    expect(mayMove({ grants, dependsOn: [seeing, blind] }, entered, left)).toBe(true)
  })

  test('may show more to others: what a token is deleted or created by does not count', () => {
    const rules: Rule[] = [
      { ...alike, permissions: ['token:delete', 'token:create'], container: '/entered/' },
      { ...alike, priority: 10 },
    ]
    expect(moves({ permissions: [], rules }, left, entered)).toBe(true)
  })
})
