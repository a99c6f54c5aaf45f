/**
 * Laws of search queries.
 * @module
 */
import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseSearch, type SearchTree } from '../../src/language/search-query.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { searchClausesMax, searchDepthMax } from '../../src/limits/limits.ts'
import { printSearch } from '../support/print-search.ts'
import { pollutedPrototypes } from '../support/prototypes.ts'
import { canary } from '../support/refusal.ts'
import { searchTrees } from '../support/search-trees.ts'

afterEach(() => expect(pollutedPrototypes()).toEqual([]))

/** Texts of all kinds, with the special characters of queries among them. */
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

test('a printed tree is read as that tree', () => {
  fc.assert(
    fc.property(trees, tree => {
      expect(parseSearch(printSearch(tree), 'query')).toEqual(tree)
    }),
  )
})

const pieces = fc.constantFrom(
  'id:',
  'type:a',
  'data:',
  'metadata.',
  'k:',
  'container:/a/*',
  'created_at:',
  '2026-01-01',
  canary,
  '__proto__:',
  'metadata.__proto__:a',
  '"\\u0041"',
  '((((((',
  '!!!!!!',
  ' AND ',
  ' OR ',
  'NOT ',
  '!',
  '-',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ' TO ',
  '*',
  '"',
  '\\',
  ' ',
)

/** Counts the clauses, and the levels around the deepest one. */
function sizeOf(tree: SearchTree): { readonly clauses: number; readonly levels: number } {
  if ('field' in tree) return { clauses: 1, levels: 0 }
  const parts = ('not' in tree ? [tree.not] : 'all' in tree ? tree.all : tree.any).map(sizeOf)
  return {
    clauses: parts.reduce((sum, { clauses }) => sum + clauses, 0),
    levels: 1 + Math.max(...parts.map(({ levels }) => levels)),
  }
}

test('any text is read within its bounds or refused with a position, and never repeated', () => {
  const texts = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 40 }).map(parts => parts.join('')),
  )
  fc.assert(
    fc.property(texts, text => {
      try {
        const tree = parseSearch(text, 'query')
        if (tree === undefined) return
        const { clauses, levels } = sizeOf(tree)
        expect(clauses).toBeLessThanOrEqual(searchClausesMax)
        // Between two parentheses there may be an OR of ANDs.
        expect(levels).toBeLessThanOrEqual(3 * (searchDepthMax + 1))
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(error.kind).toBe('invalid_request')
        expect(error.message).toMatch(/^query: position [0-9]+: ./)
        expect(Object.keys(error.fields ?? {})).toEqual(['query'])
        expect(error.message).not.toContain(canary)
      }
    }),
  )
})
