/**
 * Laws of search queries.
 * @module
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseSearch } from '../../src/domain/search-query.ts'
import { ApiError } from '../../src/errors.ts'
import { printSearch } from '../support/print-search.ts'
import { searchTrees } from '../support/search-trees.ts'

/** Texts of all kinds, with what is special in queries among them. */
const values = fc.string({ unit: fc.oneof(fc.constantFrom(...'"\\ ()[]{}*:!-'), fc.string()) })

const containers = fc
  .array(fc.stringMatching(/^[a-z0-9_-]{1,3}$/), { maxLength: 3 })
  .map(segments => ['', ...segments, ''].join('/').replace(/^$/, '/'))

const trees = searchTrees({
  texts: {
    id: values,
    type: values,
    data: values,
    fingerprint: values,
    applicationId: values.map(text => text.toLowerCase()),
  },
  keys: values,
  metadata: values,
  containers,
  containerStarts: containers.map(container => container.slice(0, -1)),
  instants: fc.integer({ min: Date.UTC(1970), max: Date.UTC(9999) }),
})

test('what is printed of a tree is read as that tree', () => {
  fc.assert(
    fc.property(trees, tree => {
      expect(parseSearch(printSearch(tree), 'query')).toEqual(tree)
    }),
  )
})

const pieces = fc.constantFrom(
  ...['id:', 'type:a', 'data:', 'metadata.', 'k:', 'container:/a/*', 'created_at:', '2026-01-01'],
  ...[' AND ', ' OR ', 'NOT ', '!', '-', '(', ')', '[', ']', '{', '}', ' TO ', '*', '"', '\\', ' '],
)

test('any text is read or refused with a position, and nothing else happens', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.array(pieces).map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(texts, text => {
      try {
        parseSearch(text, 'query')
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(error.kind).toBe('invalid_request')
        expect(error.message).toMatch(/^position [0-9]+: ./)
        expect(Object.keys(error.fields ?? {})).toEqual(['query'])
      }
    }),
  )
})
