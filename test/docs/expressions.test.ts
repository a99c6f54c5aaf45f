/**
 * `docs/expressions.md`: every example is what the engine gives, and the page has them all.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { withTables, type Example } from '../../scripts/expression-docs/tables.ts'
import { filterNames } from '../../src/language/expression/filters/filter-table.ts'
import { startVault } from '../../src/testing/index.ts'
import type { NewToken } from '../../src/client/index.ts'
import fixture from '../fixtures/expressions.json' with { type: 'json' }
import { evaluate } from '../support/expressions.ts'
import { blocksOf, readPage } from '../support/page.ts'

const page = readPage('docs/expressions.md')
const groups: readonly (readonly [string, readonly Example[]])[] = Object.entries(fixture)

describe.each(groups)('an example of %s', (_, rows) => {
  test.each(rows)('$expression', ({ expression, data, output }) => {
    expect(evaluate(expression, data)).toEqual(output)
  })
})

test('every filter has an example', () => {
  const text = groups.flatMap(([, rows]) => rows.map(({ expression }) => expression)).join('\n')
  const missing = filterNames.filter(name => !new RegExp(`[|,] ${name}\\b`).test(text))
  expect(missing).toEqual([])
})

test('docs/expressions.md has the examples: else run bun scripts/expression-docs.ts', () => {
  expect(withTables(page, fixture)).toBe(page)
})

test('tables that have no place, and places that have no table, are told', () => {
  const row = { expression: '{{ data | last4 }}', data: '12345', output: '2345' }
  const made = withTables('<!-- a -->\nb\n', { a: [row] })
  expect(made).toContain('| `{{ data \\| last4 }}` | `"12345"` | `"2345"` |\nb\n')
  expect(withTables(made, { a: [row] })).toBe(made)
  expect(() => withTables('', { a: [row] })).toThrow('no place for examples of a')
  expect(() => withTables('<!-- b -->\n', {})).toThrow('no examples of b')
})

test('the token of docs/expressions.md shows what the page says', async () => {
  const [sent = '', shown = ''] = blocksOf(page, 'json')
  await using vault = await startVault()
  const created = await vault.client('public').tokens.create(JSON.parse(sent) as NewToken)
  expect(created.data).toEqual(JSON.parse(shown))
  const found = await vault.client().tokens.searchPage({ query: 'data:4242' })
  expect(found.data.map(({ id }) => id)).toEqual([created.id])
})
