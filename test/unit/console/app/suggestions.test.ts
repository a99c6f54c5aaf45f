/**
 * The words that may come next in a query.
 * @module
 */
import { expect, test } from 'bun:test'
import { parseSearch } from '../../../../src/language/search-query.ts'
import { completionOf } from '../../../../src/console/app/suggestions.ts'

const known = {
  metadata: ['order', 'with blank', 'a:b'],
  containers: ['/pci/high/', '/general/'],
}

const textsFor = (head: string) =>
  completionOf(head, known).suggestions.map(({ text }) => text.trim())

const fields = ['id:', 'type:', 'data:', 'metadata.', 'container:']

test.each([
  ['', expect.arrayContaining(fields)],
  ['(', expect.arrayContaining(fields)],
  ['-', expect.arrayContaining(fields)],
  ['type:card AND ', expect.arrayContaining([...fields, 'NOT'])],
  ['type:card AND NOT (', expect.arrayContaining(fields)],
  ['cre', ['created_at:', 'created_by:']],
  ['type:ca', ['type:card', 'type:card_number']],
  ['NOT type:iba', ['type:iban']],
  ['metadata.', ['metadata.order:']],
  ['ord', ['metadata.order:']],
  ['type:card AND o', ['metadata.order:']],
  ['container:', ['container:/pci/high/*', 'container:/general/*']],
  ['container:/p', ['container:/pci/high/*']],
  ['type:card ', ['AND', 'OR', 'AND NOT']],
  ['type:card a', ['AND', 'AND NOT']],
  ['(type:card OR type:iban) ', ['AND', 'OR', 'AND NOT']],
  ['metadata.x:"two words" ', ['AND', 'OR', 'AND NOT']],
  ['created_at:[2026-01-01T00:00:00Z TO *] ', ['AND', 'OR', 'AND NOT']],
  ['metadata.x:"two ', []],
  ['created_at:[2026-01-01T00:00:00Z ', []],
  ['id:order-17', []],
  ['colour', []],
])('behind %p stand the words that may', (head, texts) => {
  expect(textsFor(head)).toEqual(texts)
})

test('a suggestion takes the place of the word that was begun', () => {
  expect(completionOf('type:card AND ty', known)).toMatchObject({ from: 14 })
  expect(completionOf('(ty', known)).toMatchObject({ from: 1 })
})

test('each suggested type, name and container is taken by the grammar', () => {
  for (const head of ['type:', 'container:']) {
    for (const text of textsFor(head)) expect(parseSearch(text, 'query')).toBeDefined()
  }
  for (const field of textsFor('')) {
    const value = field.endsWith('_at:') ? '2026-01-01' : field === 'container:' ? '/a/' : 'x'
    const clause =
      field === 'NOT' ? 'NOT id:x' : field + (field.endsWith('.') ? `n:${value}` : value)
    expect(parseSearch(clause, 'query')).toBeDefined()
  }
})
