import { describe, expect, test } from 'bun:test'
import { isJsonObject } from '../../../src/lib/json/json.ts'
import { tokenTypeOf } from '../../../src/rules/token-types.ts'
import type { CreateTokenBody } from '../../../src/tokens/schema.ts'
import { requestsOf, tokensMin } from '../../../scripts/seed/contents.ts'
import { sharesOf } from '../../../scripts/seed/facts.ts'
import { openRandom } from '../../../scripts/seed/random.ts'

const make = (seed: number) => [...requestsOf('mixed', tokensMin, openRandom(seed))]
const made = make(1)

const hasPair =
  ({ name, value }: { readonly name: string; readonly value: string }) =>
  ({ metadata }: CreateTokenBody): boolean =>
    isJsonObject(metadata) && metadata.get(name) === value

const { half, halfCards, tenth, both, rare, container } = sharesOf('mixed', tokensMin)

describe('a data set', () => {
  test('has exactly the shares that its facts tell', () => {
    expect(made).toHaveLength(tokensMin)
    expect(made.filter(hasPair(half))).toHaveLength(half.tokens)
    expect(made.filter(hasPair(tenth))).toHaveLength(tenth.tokens)
    expect(made.filter(hasPair(half)).filter(hasPair(tenth))).toHaveLength(both)
    expect(made.filter(hasPair(rare))).toHaveLength(rare.tokens)
    const isCard = ({ type }: CreateTokenBody) => type === 'card'
    expect(made.filter(hasPair(half)).filter(isCard)).toHaveLength(halfCards)
    const isInside = ({ containers }: CreateTokenBody) => containers?.[0] === container.path
    expect(made.filter(isInside)).toHaveLength(container.tokens)
  })

  test('has data that its types take', () => {
    for (const { type, data } of made) {
      expect(() => tokenTypeOf(type)?.normalise(data ?? null, 'data', 0)).not.toThrow()
    }
  })

  test('is the same for one seed, and another for another', () => {
    expect(make(1)).toEqual(made)
    expect(make(2)).not.toEqual(made)
  })

  test('of cards alone has nothing else', () => {
    const cards = [...requestsOf('cards', tokensMin, openRandom(1))]
    expect(new Set(cards.map(({ type }) => type))).toEqual(new Set(['card']))
    expect(cards.filter(hasPair(half))).toHaveLength(sharesOf('cards', tokensMin).half.tokens)
  })
})
