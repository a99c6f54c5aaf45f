/**
 * Searches as the model knows them: a tree, how it is written, and which tokens it is true of.
 *
 * Source: contract section 14. The tree comes first, so the model needs no parser of its own.
 * @module
 */
import { admit, failed, isRefused, type Expected } from './access.ts'
import { evaluateText } from './expressions.ts'
import { showPage, showStretch, visibleTokens, type Part, type Visible } from './lists.ts'
import { lastingData, type Model, type ModelToken } from './state.ts'
import { fingerprintOf, showsAnything, viewToken } from './token-view.ts'

type TextField = 'id' | 'type' | 'data' | 'fingerprint' | 'created_by' | 'modified_by'

export type Clause =
  | { readonly field: TextField; readonly value: string }
  | { readonly field: 'container'; readonly value: string; readonly isStart: boolean }
  | { readonly field: 'metadata'; readonly name: string; readonly value: string }
  | {
      readonly field: 'created_at' | 'modified_at'
      /** `undefined` is an open end. */
      readonly fromMs: number | undefined
      readonly toMs: number | undefined
      readonly isInclusive: boolean
    }

export type SearchTree =
  | { readonly all: readonly SearchTree[] }
  | { readonly any: readonly SearchTree[] }
  | { readonly not: SearchTree; readonly sign: 'NOT ' | '!' | '-' }
  | Clause

const quoted = (text: string): string => JSON.stringify(text)

const boundText = (ms: number | undefined): string =>
  ms === undefined ? '*' : new Date(ms).toISOString()

function clauseText(clause: Clause): string {
  if ('fromMs' in clause) {
    const [open, close] = clause.isInclusive ? '[]' : '{}'
    return `${clause.field}:${open}${boundText(clause.fromMs)} TO ${boundText(clause.toMs)}${close}`
  }
  if (clause.field === 'metadata') {
    return `metadata.${quoted(clause.name)}:${quoted(clause.value)}`
  }
  if (clause.field === 'container' && clause.isStart) return `container:${clause.value}*`
  return `${clause.field}:${quoted(clause.value)}`
}

/** Parentheses only where they are needed: NOT binds most, OR least. */
export function searchText(tree: SearchTree): string {
  if ('any' in tree) return tree.any.map(searchText).join(' OR ')
  if ('all' in tree) {
    return tree.all
      .map(part => ('any' in part ? `(${searchText(part)})` : searchText(part)))
      .join(' AND ')
  }
  if (!('not' in tree)) return clauseText(tree)
  const isCompound = 'any' in tree.not || 'all' in tree.not
  return tree.sign + (isCompound ? `(${searchText(tree.not)})` : searchText(tree.not))
}

const equalFolded = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const indexValues = (token: ModelToken): string[] =>
  token.indexes
    .map(expression => evaluateText(expression, { data: lastingData(token) }) ?? '')
    .filter(text => text !== '')

const textOf = (model: Model, token: ModelToken, field: Exclude<TextField, 'data'>) =>
  ({
    id: token.id,
    type: token.type,
    fingerprint: fingerprintOf(model, token),
    created_by: token.createdBy,
    modified_by: token.modifiedBy,
  })[field]

type InstantClause = Extract<Clause, { readonly isInclusive: boolean }>

function isWithin({ fromMs, toMs, isInclusive }: InstantClause, ms: number | undefined): boolean {
  if (ms === undefined) return false
  const [from, to] = [fromMs ?? -Infinity, toMs ?? Infinity]
  return isInclusive ? ms >= from && ms <= to : ms > from && ms < to
}

function isClauseTrue(model: Model, { token, transform }: Visible, clause: Clause): boolean {
  switch (clause.field) {
    case 'data':
      // A caller that may not see any of the data must not find out about it either.
      return (
        showsAnything(token, transform) &&
        indexValues(token).some(text => equalFolded(text, clause.value))
      )
    case 'fingerprint':
      return transform !== 'redact' && textOf(model, token, 'fingerprint') === clause.value
    case 'container':
      return clause.isStart
        ? token.container.startsWith(clause.value.toLowerCase())
        : token.container === clause.value.toLowerCase()
    case 'metadata':
      return Object.entries(token.metadata).some(
        ([name, value]) => equalFolded(name, clause.name) && equalFolded(value, clause.value),
      )
    case 'created_at':
      return isWithin(clause, token.createdAtMs)
    case 'modified_at':
      return isWithin(clause, token.modifiedAtMs)
    default:
      return textOf(model, token, clause.field) === clause.value
  }
}

const isTrue = (model: Model, visible: Visible, tree: SearchTree): boolean => {
  if ('all' in tree) return tree.all.every(part => isTrue(model, visible, part))
  if ('any' in tree) return tree.any.some(part => isTrue(model, visible, part))
  if ('not' in tree) return !isTrue(model, visible, tree.not)
  return isClauseTrue(model, visible, tree)
}

const queryCharsMax = 2_000

/** @param tree `undefined` for a text that is no query */
export function searchTokens(
  model: Model,
  key: string | undefined,
  tree: SearchTree | undefined,
  part: Part,
): Expected {
  const caller = admit(model, key, 'token:search')
  if (isRefused(caller)) return caller
  const isTooLong = tree !== undefined && searchText(tree).length > queryCharsMax
  if (tree === undefined || isTooLong || part === undefined) return failed(400)
  const found = visibleTokens(model, caller, 'token:search')
    .filter(visible => isTrue(model, visible, tree))
    .map(({ token, transform }) => ({
      order: token.order,
      json: viewToken(model, token, transform),
    }))
  const json = 'page' in part ? showPage(part, found) : showStretch(part, found)
  return { status: 200, json }
}
