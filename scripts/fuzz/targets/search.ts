/**
 * Search queries: a tree within its bounds that prints back to itself, or a refusal.
 *
 * @module
 */
import { parseSearch, type SearchTree } from '../../../src/language/search-query.ts'
import { searchClausesMax, searchDepthMax } from '../../../src/limits/limits.ts'
import { printSearch } from '../../../test/support/print-search.ts'
import type { Target } from '../engine.ts'
import { assert, assertEqual, canary, resultOf } from '../invariants.ts'

interface Size {
  readonly clauses: number
  readonly depth: number
}

const largest = (sizes: readonly Size[]): Size => ({
  clauses: sizes.reduce((sum, { clauses }) => sum + clauses, 0),
  depth: 1 + Math.max(...sizes.map(({ depth }) => depth)),
})

function sizeOf(tree: SearchTree): Size {
  if ('all' in tree) return largest(tree.all.map(sizeOf))
  if ('any' in tree) return largest(tree.any.map(sizeOf))
  return 'not' in tree ? largest([sizeOf(tree.not)]) : { clauses: 1, depth: 0 }
}

function run(input: string): void {
  const tree = resultOf(() => parseSearch(input.toWellFormed(), 'query'))
  if (tree === undefined) return
  const { clauses, depth } = sizeOf(tree)
  assert(clauses <= searchClausesMax, 'no more clauses than allowed')
  // Each level of the text may be an OR of ANDs.
  assert(depth <= 3 * (searchDepthMax + 1), 'no deeper than allowed')
  // The printed text may have more parentheses than the input.
  if (depth <= searchDepthMax / 2) {
    assertEqual(parseSearch(printSearch(tree), 'query'), tree, 'what is printed reads back')
  }
}

export const target: Target = {
  seeds: [
    'id:abc',
    'data:"4242 4242" AND metadata.order:A-1027',
    'metadata."a key":"a \\"value\\"" OR NOT (type:card OR !container:/pci/*)',
    '-fingerprint:x AND created_by:ABC AND modified_by:"d"',
    'created_at:[2026-01-01 TO *] AND modified_at:{* TO 2030-08-26T19:23:57Z}',
    'created_at:2026-01-01 OR container:/a/b/ AND container:*',
    `data:"${canary}\\u0041"`,
  ],
  dictionary: [
    'id:',
    'type:',
    'data:',
    'fingerprint:',
    'created_by:',
    'modified_by:',
    'container:',
    'metadata.',
    'metadata."',
    'created_at:',
    'modified_at:',
    ' AND ',
    ' OR ',
    ' NOT ',
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
    '\\u0041',
    '\\ud800',
    ':',
    ' ',
    '2026-01-01',
    '2030-08-26T19:23:57Z',
    '/pci/',
    '/',
    canary,
    '__proto__',
    'and',
    'a',
    '((((((((',
    '!!!!!!!!',
    'id:a OR ',
  ],
  charsMax: 2_000,
  run,
}
