/**
 * `docs/evidence/`: each statement of the documents has a test that is tagged with it, each tag a
 * statement, and the pages are made of both.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { readEvidenceFiles } from '../../scripts/evidence/files.ts'
import { composePages, documents, findFaults } from '../../scripts/evidence/tables.ts'
import { readPage } from '../support/page.ts'
import { readStatements } from '../support/statements.ts'

const files = readEvidenceFiles()
const pages = composePages(files)

test('every statement has a tagged test, and every tag names a statement', () => {
  expect(findFaults(files)).toEqual([])
})

test.each(documents)('$page is current: else run bun scripts/evidence.ts', ({ page }) => {
  expect(readPage(page)).toBe(pages.get(page) ?? 'no such page')
})

test.each([
  ['docs/evidence/specification.md', 140],
  ['docs/interface.md', 330],
  ['docs/hostile-inputs.md', 150],
  ['SECURITY.md', 75],
  ['docs/compatibility.md', 35],
])('%s has over %i statements, each one once and in words', (file, count) => {
  const texts = readStatements(file).map(([, ...cells]) => cells.join(' | '))
  expect(texts.length).toBeGreaterThan(count)
  expect(texts.filter(text => /(^|\|)\s*$/.test(text))).toEqual([])
  const again = texts.filter((text, index) => texts.indexOf(text) !== index)
  expect(file === 'docs/compatibility.md' ? [] : again).toEqual([])
})

describe('a project', () => {
  const page = ['| Id | Statement |', '| --- | --- |', '| S1 | said |', '| S2.3 | said too |'].join(
    '\n',
  )
  const shown = [
    "describe('a vault', () => {",
    '  // proves S1',
    '  // proves S2.3',
    "  test('keeps what it has', () => {})",
    '})',
  ].join('\n')
  const faultsOf = (document: string, ...lines: readonly string[]) =>
    findFaults(
      new Map([
        ['SECURITY.md', document],
        ['test/a.test.ts', lines.join('\n')],
      ]),
    )

  test('whose statements and tags are in pairs has no fault', () => {
    expect(faultsOf(page, shown)).toEqual([])
  })

  test('that makes a statement without a test is refused', () => {
    expect(faultsOf(`${page}\n| S3 | alone |`, shown)).toEqual(['S3: no test is tagged with it'])
  })

  test('that tags a test with what is no statement is refused', () => {
    expect(faultsOf(page, shown, '// proves S9, S1', "test('of nothing', () => {})")).toEqual([
      'S9: is no statement, and a tag at a.test.ts › of nothing',
    ])
  })

  test('that makes a statement twice is refused', () => {
    expect(faultsOf(`${page}\n| S1 | again |`, shown)).toEqual(['S1: stands twice'])
  })

  test('that has a tag above no test is refused', () => {
    expect(faultsOf(page, shown, '// proves S1', 'const a = 1')).toEqual([
      'test/a.test.ts:6: a tag stands above no test',
    ])
  })
})

describe('a tagged row of a table is named with its suites', () => {
  const rows = ['  // proves S1', "  ['the row', 1],"]
  const use = (table: string) => [
    "describe('a suite', () => {",
    `  test.each(${table})('%s', () => {})`,
    '})',
  ]
  test.each([
    ['that is used by its name', ['const rows = [', ...rows, ']', ...use('rows')]],
    ['that stands where it is used', use(['[', ...rows, ']'].join('\n'))],
  ])('%s', (_, lines) => {
    const sample = new Map([
      ['SECURITY.md', '| S1 | said |'],
      ['test/a.test.ts', lines.join('\n')],
    ])
    expect(composePages(sample).get('docs/evidence/security.md')).toContain(
      '| S1 | said | `a.test.ts › a suite › the row` |',
    )
  })
})
