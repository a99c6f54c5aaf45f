/**
 * Prints a search tree. Law: parsing the printed text gives the same tree.
 *
 * The text may differ from the original: all values are quoted, and instants become ranges.
 * @module
 */
import type { Clause, SearchTree } from '../../src/language/search-query.ts'

const quote = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

const printInstant = (epochMs: number): string =>
  Number.isFinite(epochMs) ? new Date(epochMs).toISOString() : '*'

function printClause(clause: Clause): string {
  switch (clause.field) {
    case 'metadata':
      return `metadata.${quote(clause.key)}:${quote(clause.value)}`
    case 'container':
      return clause.isStart ? `container:${clause.value}*` : `container:${quote(clause.value)}`
    case 'created_at':
    case 'modified_at': {
      const { field, fromMs, beforeMs } = clause
      return `${field}:[${printInstant(fromMs)} TO ${printInstant(beforeMs - 1)}]`
    }
    default:
      return `${clause.field}:${quote(clause.value)}`
  }
}

/** Adds parentheses around a part that binds less than its place. */
const printPart = (tree: SearchTree): string =>
  'any' in tree || 'all' in tree ? `(${printSearch(tree)})` : printSearch(tree)

export function printSearch(tree: SearchTree): string {
  if ('any' in tree) return tree.any.map(printPart).join(' OR ')
  if ('all' in tree) return tree.all.map(printPart).join(' AND ')
  return 'not' in tree ? `NOT ${printPart(tree.not)}` : printClause(tree)
}
