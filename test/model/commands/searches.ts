/**
 * Commands that search: random trees of few clauses over what there is.
 * @module
 */
import fc from 'fast-check'
import { pickOf, picks } from '../arbitraries.ts'
import { callersOf, keyOf } from '../callers.ts'
import type { Answer } from '../../support/vault.ts'
import { commandsOf } from '../command.ts'
import { evaluateText } from '../expressions.ts'
import { readPage } from '../lists.ts'
import { containers, metadataFilters } from '../samples.ts'
import { searchText, searchTokens, type Clause, type SearchTree } from '../search.ts'
import { expectAnswer, send } from '../server.ts'
import { liveTokens, type Model } from '../state.ts'
import { modelTypes } from '../token-types.ts'
import { pagings, type PageInput } from './pages.ts'
import { targetOf, targets } from './tokens.ts'
import { keepCursor, startOf, stretchOf, walks } from './walks.ts'

const instants = fc.record({
  field: fc.constantFrom('created_at', 'modified_at'),
  from: fc.option(picks),
  to: fc.option(picks),
  byMs: fc.constantFrom(-1, 0, 1),
  isInclusive: fc.boolean(),
})

/** Clauses by number: what they name is looked up when the search runs. */
const clauses = fc.oneof(
  fc.record({ field: fc.constant('id'), target: targets }),
  fc.record({ field: fc.constant('type'), value: fc.constantFrom(...Object.keys(modelTypes)) }),
  fc.record({ field: fc.constant('data'), pick: picks, isUpper: fc.boolean() }),
  fc.record({ field: fc.constant('data'), pick: picks, isUpper: fc.boolean() }),
  fc.record({ field: fc.constant('fingerprint'), pick: picks }),
  fc.record({ field: fc.constantFrom('created_by', 'modified_by'), pick: picks }),
  fc.record({
    field: fc.constant('container'),
    value: fc.constantFrom(...containers),
    isStart: fc.boolean(),
    isCut: fc.boolean(),
  }),
  fc.record({ field: fc.constant('metadata'), pair: fc.constantFrom(...metadataFilters) }),
  instants,
)

type ClauseInput = typeof clauses extends fc.Arbitrary<infer Input> ? Input : never

type TreeInput =
  | { readonly all: readonly TreeInput[] }
  | { readonly any: readonly TreeInput[] }
  | { readonly not: TreeInput; readonly sign: 'NOT ' | '!' | '-' }
  | ClauseInput

const trees = fc.letrec<{ tree: TreeInput }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    clauses,
    fc.array(tie('tree'), { minLength: 2, maxLength: 3 }).map(all => ({ all })),
    fc.array(tie('tree'), { minLength: 2, maxLength: 3 }).map(any => ({ any })),
    fc.record({ not: tie('tree'), sign: fc.constantFrom('NOT ', '!', '-') }),
  ),
})).tree

const indexValue = (model: Model, pick: number): string => {
  const values = liveTokens(model).flatMap(({ indexes, data }) =>
    indexes.map(expression => evaluateText(expression, { data }) ?? ''),
  )
  return pickOf(values.filter(text => text !== '').toReversed(), pick) ?? 'absent'
}

/** Around the instants at which something happened, where mistakes would be. */
function instantOf(model: Model, pick: number | null, byMs: number): number | undefined {
  if (pick === null) return undefined
  const all = liveTokens(model).flatMap(({ createdAtMs, modifiedAtMs = createdAtMs }) => [
    createdAtMs,
    modifiedAtMs,
  ])
  return (pickOf(all.toReversed(), pick) ?? model.nowMs) + byMs
}

function clauseOf(model: Model, input: ClauseInput): Clause {
  if ('target' in input) return { field: 'id', value: targetOf(model, input.target) }
  if ('isStart' in input) {
    const { isStart, isCut, value } = input
    return { field: 'container', isStart, value: isStart && isCut ? value.slice(0, -1) : value }
  }
  if ('pair' in input) {
    return { field: 'metadata', name: input.pair[0], value: input.pair[1] }
  }
  if ('isUpper' in input) {
    const value = indexValue(model, input.pick)
    return { field: 'data', value: input.isUpper ? value.toUpperCase() : value }
  }
  if ('isInclusive' in input) {
    const { field, isInclusive, byMs } = input
    const fromMs = instantOf(model, input.from, byMs)
    return { field, isInclusive, fromMs, toMs: instantOf(model, input.to, byMs) } as Clause
  }
  if ('value' in input) return { field: 'type', value: input.value }
  const things =
    input.field === 'fingerprint' ? model.fingerprints.values() : model.applications.keys()
  return { field: input.field, value: pickOf([...things], input.pick) ?? 'absent' } as Clause
}

function treeOf(model: Model, input: TreeInput): SearchTree {
  if ('all' in input) return { all: input.all.map(part => treeOf(model, part)) }
  if ('any' in input) return { any: input.any.map(part => treeOf(model, part)) }
  if ('not' in input) return { not: treeOf(model, input.not), sign: input.sign }
  return clauseOf(model, input)
}

function rangesIn(tree: SearchTree): number {
  if ('not' in tree) return rangesIn(tree.not)
  const parts = 'all' in tree ? tree.all : 'any' in tree ? tree.any : undefined
  if (parts === undefined) return 'isInclusive' in tree ? 1 : 0
  return parts.reduce((sum, part) => sum + rangesIn(part), 0)
}

/** The vault decides how many values a range may stand for; one alone is never too many. */
const isTooWide = (asked: SearchTree, { status, text }: Answer): boolean =>
  status === 400 && text.includes('fewer or shorter ranges of time') && rangesIn(asked) > 1

const searchers = callersOf({ first: 30, private: 40, session: 25 })

/** In a body they are numbers; a text that is none is sent as it is. */
const numbers = ({ page, size }: PageInput) => {
  const numberOf = (text: string) => (/^-?[0-9.]+$/.test(text) ? Number(text) : text)
  return {
    ...(page === undefined ? {} : { page: numberOf(page) }),
    ...(size === undefined ? {} : { size: numberOf(size) }),
  }
}

const texts = ({ page, size }: PageInput) => ({
  ...(page === undefined ? {} : { page }),
  ...(size === undefined ? {} : { size }),
})

export const searches = commandsOf({
  name: 'search tokens',
  input: fc.record({ by: searchers, tree: trees, paging: pagings }),
  async run(model, server, { by, tree, paging }) {
    const key = keyOf(model, by)
    const asked = treeOf(model, tree)
    const body = { query: searchText(asked), ...numbers(paging) }
    const answer = await send(server, 'POST', '/tokens/search', key, body)
    if (isTooWide(asked, answer)) return
    expectAnswer(model, answer, searchTokens(model, key, asked, readPage(texts(paging))))
  },
})

/** A query that is true of every token, in the grammar of the model. */
const everything: SearchTree = { not: { field: 'id', value: '' }, sign: 'NOT ' }

export const searchesForAll = commandsOf({
  name: 'search for all',
  input: fc.record({ by: searchers, paging: pagings }),
  async run(model, server, { by, paging }) {
    const key = keyOf(model, by)
    const body = { query: '*', ...numbers(paging) }
    const answer = await send(server, 'POST', '/tokens/search', key, body)
    expectAnswer(model, answer, searchTokens(model, key, everything, readPage(texts(paging))))
  },
})

/** Only two questions, so that walks of both are continued. */
const walked: readonly TreeInput[] = [
  { field: 'container', value: '/a/', isStart: true, isCut: true },
  { not: { field: 'metadata', pair: ['colour', 'BLUE'] }, sign: '-' },
]

export const walksOfSearches = commandsOf({
  name: 'walk a search',
  input: fc.record({ by: searchers, tree: fc.constantFrom(...walked), walk: walks }),
  async run(model, server, { by, tree, walk }) {
    const key = keyOf(model, by)
    const asked = treeOf(model, tree)
    const query = searchText(asked)
    const start = startOf(model, `search ${query}`, walk)
    const body = { query, size: walk.size, start }
    const answer = await send(server, 'POST', '/tokens/search', key, body)
    const part = stretchOf(model, `search ${query}`, start, walk.size, answer)
    expectAnswer(model, answer, searchTokens(model, key, asked, part))
    keepCursor(model, `search ${query}`, part, answer)
  },
})

const mistakes = [
  '',
  ' ',
  '* AND id:one',
  'id',
  'id:',
  'name:x',
  'Id:one',
  'id:one type:token',
  'id:one and type:token',
  '(id:one',
  'id:one)',
  'id:o*',
  'data:"c4n4ry*',
  'created_at:[* 2030-01-01]',
  'created_at:[* TO 2030-02-30]',
  'type:[a TO b]',
  'NOT',
  'c4n4ry',
  `data:${'x'.repeat(2_000)}`,
]

export const wrongSearches = commandsOf({
  name: 'search by mistake',
  input: fc.record({ by: searchers, query: fc.constantFrom(...mistakes) }),
  async run(model, server, { by, query }) {
    const key = keyOf(model, by)
    const answer = await send(server, 'POST', '/tokens/search', key, { query })
    expectAnswer(model, answer, searchTokens(model, key, undefined, { page: 1, size: 20 }))
  },
})
