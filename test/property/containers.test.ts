import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  containerAncestors,
  containerCovers,
  normaliseContainer,
} from '../../src/rules/container-paths.ts'
import { ApiError } from '../../src/lib/errors.ts'

const segment = fc.string({
  unit: fc.constantFrom('a', 'b', 'K', '_', '-', '0'),
  minLength: 1,
  maxLength: 2,
})

const segments = fc.array(segment, { maxLength: 4 })

const containerOf = (parts: readonly string[]) =>
  normaliseContainer(`/${parts.map(part => `${part}/`).join('')}`, 'container')

/** Part by part, as the words of the contract have it. */
const slowCovers = (outer: readonly string[], inner: readonly string[]) =>
  outer.every((part, index) => part.toLowerCase() === inner[index]?.toLowerCase())

const normalised = (text: string): string | undefined => {
  try {
    return normaliseContainer(text, 'container')
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    return undefined
  }
}

describe('container laws', () => {
  test('covering goes by whole segments, whatever their case', () => {
    fc.assert(
      fc.property(segments, segments, (outer, inner) => {
        expect(containerCovers(containerOf(outer), containerOf(inner))).toBe(
          slowCovers(outer, inner),
        )
      }),
      { numRuns: 500 },
    )
  })

  test('the ancestors of a container are exactly the containers that cover it', () => {
    fc.assert(
      fc.property(segments, segments, (outer, inner) => {
        const [container, other] = [containerOf(inner), containerOf(outer)]
        expect(containerAncestors(container).includes(other)).toBe(
          containerCovers(other, container),
        )
        expect(containerAncestors(container)).toHaveLength(inner.length + 1)
      }),
      { numRuns: 500 },
    )
  })

  test('a normal container is ASCII, in lower case and stays as it is', () => {
    const unit = fc.constantFrom('/', '/', 'a', 'K', '.', '\u212a', '\u0130', '-', ' ')
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 6 }), text => {
        const container = normalised(`/${text}/`)
        if (container === undefined) return
        expect(container).toMatch(/^\/([a-z-]+\/)*$/)
        expect(normalised(container)).toBe(container)
        expect(container).toHaveLength(text.length + 2)
      }),
      { numRuns: 500 },
    )
  })
})
