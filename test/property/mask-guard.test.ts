import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { transforms, type Grants, type Rule, decideTransform } from '../../src/rules/access.ts'
import { filterNames } from '../../src/language/expression/filters/filter-table.ts'
import { fromPlain, toPlain } from '../../src/lib/json/json.ts'
import { applyMask, checkMask } from '../../src/rules/mask.ts'
import { cardShapeOf, shownPlaces, showsNoMore } from '../../src/rules/mask-guard.ts'
import { mayMove, seeingPermissions } from '../../src/rules/moves.ts'
import { present } from '../../src/lib/errors.ts'

const card = present(cardShapeOf('card'), 'cards are guarded')

const text = fc.constantFrom("''", "'X'", "'-'", "'4'", "'42'", "'x4'", "'$.number'", "'MM'")
const number = fc.integer({ min: -17, max: 17 }).map(String)
const path = fc.constantFrom('data', 'data.number', 'data.cvc', 'data.pad', 'data.at')
const argument = fc.oneof(
  { weight: 4, arbitrary: number },
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: path },
)
const picking = ['slice', 'reveal', 'reveal_last', 'card_mask', 'truncate', 'append', 'prepend']
const filter = fc
  .tuple(
    fc.oneof(fc.constantFrom(...picking, 'replace', 'remove'), fc.constantFrom(...filterNames)),
    fc.array(argument, { maxLength: 3 }),
  )
  .map(([name, given]) => ` | ${name}${given.length === 0 ? '' : `: ${given.join(', ')}`}`)
const output = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: fc.constant('data.number') }, { weight: 1, arbitrary: path }),
    fc.array(filter, { maxLength: 4 }),
  )
  .map(([source, filters]) => `{{ ${source}${filters.join('')} }}`)

const isMask = (mask: unknown): boolean => {
  try {
    checkMask(fromPlain(mask), 'mask')
    return true
  } catch {
    return false
  }
}

const mask = fc.array(output.filter(isMask), { minLength: 1, maxLength: 3 })

const digits = fc
  .integer({ min: 13, max: 19 })
  .chain(length =>
    fc.tuple(
      ...Array.from({ length: 2 }, () =>
        fc
          .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
          .map(drawn => drawn.join('')),
      ),
    ),
  )

/** The first number where it is shown, the second one elsewhere. */
const mixed = (shown: ReadonlySet<number>, first: string, second: string): string =>
  [...first].map((digit, place) => (shown.has(place) ? digit : second[place])).join('')

const other = fc.record({ pad: fc.constantFrom('', '4242', 'x'), at: fc.integer({ max: 9 }) })

const applied = (drawn: readonly string[], data: object): unknown => {
  const result = applyMask(fromPlain(drawn), fromPlain(data))
  return result === undefined ? 'redacted' : toPlain(result.masked)
}

describe('laws of masks of cards', () => {
  // proves C6.41, E3.4, S58
  test('a verdict on a mask holds: it shows no other digit, and nothing of the code', () => {
    let told = 0
    fc.assert(
      fc.property(mask, digits, other, (drawn, [first = '', second = ''], members) => {
        const places = shownPlaces(card, fromPlain(drawn), first.length)
        if (places === undefined) return
        told += 1
        const data = { ...members, number: first, cvc: '123' }
        const changed = { ...members, number: mixed(places, first, second), cvc: '9999' }
        expect(applied(drawn, changed)).toEqual(applied(drawn, data))
      }),
      { numRuns: 2_000 },
    )
    expect(told).toBeGreaterThan(100)
  })

  // proves C6.42
  test('a mask that shows no more tells nothing that the standing one does not', () => {
    let narrowed = 0
    fc.assert(
      fc.property(
        mask,
        mask,
        digits,
        other,
        (next, standing, [first = '', second = ''], members) => {
          const all = [...standing, ...next.slice(1)]
          const shown = shownPlaces(card, fromPlain(all), first.length)
          if (shown === undefined) return
          if (!showsNoMore(card, fromPlain(next), fromPlain(all), first.length)) return
          narrowed += 1
          const data = { ...members, number: first, cvc: '123' }
          const changed = { ...members, number: mixed(shown, first, second), cvc: '9999' }
          if (applied(all, data) === 'redacted') return
          expect(applied(next, changed)).toEqual(applied(next, data))
        },
      ),
      { numRuns: 2_000 },
    )
    expect(narrowed).toBeGreaterThan(20)
  })
})

describe('laws of moves', () => {
  const container = fc.constantFrom('/', '/a/', '/a/b/', '/b/')
  const held = fc.constantFrom(...seeingPermissions)
  const rule = fc.record({
    container,
    transform: fc.constantFrom(...transforms),
    permissions: fc.uniqueArray(held, { minLength: 1 }),
  })
  const grants: fc.Arbitrary<Grants> = fc.record({
    permissions: fc.uniqueArray(held),
    rules: fc
      .array(rule, { maxLength: 5 })
      .map(rules => rules.map((each, index): Rule => ({ ...each, priority: index + 1 }))),
  })

  // proves C9.9, S59
  test('after any walk of accepted moves nothing is seen that was not seen at first', () => {
    let moved = 0
    fc.assert(
      fc.property(grants, fc.array(container, { minLength: 2, maxLength: 5 }), (own, walk) => {
        const [start = '/', ...steps] = walk
        const placeIn = (name: string) => ({ id: 'moving', containers: [name] })
        const rank = (permission: (typeof seeingPermissions)[number], name: string) =>
          transforms.findIndex(each => each === decideTransform(own, permission, placeIn(name)))
        let at = start
        for (const step of steps) {
          if (!mayMove({ grants: own, dependsOn: [] }, placeIn(at), placeIn(step))) continue
          if (at !== step) moved += 1
          at = step
          for (const permission of seeingPermissions) {
            expect(rank(permission, at)).toBeLessThanOrEqual(rank(permission, start))
          }
        }
      }),
      { numRuns: 2_000 },
    )
    expect(moved).toBeGreaterThan(100)
  })
})
