/**
 * Commands that list: one page, or all pages of one query.
 * @module
 */
import fc from 'fast-check'
import { picks, pickOf } from '../arbitraries.ts'
import { keyOf, managers, tokenCallers } from '../callers.ts'
import { commandsOf } from '../command.ts'
import { listApplications, listTokens, readPage, type TokenQuery } from '../lists.ts'
import { containers, metadataFilters } from '../samples.ts'
import { expectAnswer, send } from '../server.ts'
import type { Model } from '../state.ts'
import { modelTypes } from '../token-types.ts'
import { pagings, type PageInput } from './pages.ts'
import { targetOf, targets } from './tokens.ts'
import { keepCursor, startOf, stretchOf, walks } from './walks.ts'

const few = <T>(of: fc.Arbitrary<T>, maxLength = 2) =>
  fc.oneof(
    { arbitrary: fc.constant<T[]>([]), weight: 3 },
    { arbitrary: fc.array(of, { minLength: 1, maxLength }), weight: 1 },
  )

const filters = fc.record({
  targets: few(targets),
  types: few(fc.constantFrom(...Object.keys(modelTypes), 'absent')),
  containers: few(fc.constantFrom(...containers)),
  fingerprints: few(picks, 1),
  metadata: few(fc.constantFrom(...metadataFilters), 1),
  form: fc.constantFrom('dotted', 'bracketed', 'object'),
})

type Filters = typeof filters extends fc.Arbitrary<infer Input> ? Input : never
type Pair = readonly [string, string]

const queryOf = (model: Model, input: Filters): TokenQuery => ({
  ids: input.targets.map(target => targetOf(model, target)),
  types: input.types,
  containers: input.containers,
  fingerprints: input.fingerprints.map(
    pick => pickOf([...model.fingerprints.values()], pick) ?? 'absent',
  ),
  metadata: input.metadata,
})

/** The three forms in which clients write it (contract section 14). */
function metadataPairs(metadata: readonly Pair[], form: string): Pair[] {
  if (metadata.length === 0) return []
  if (form === 'object') return [['metadata', JSON.stringify(Object.fromEntries(metadata))]]
  return metadata.map(([name, value]) => [
    form === 'dotted' ? `metadata.${name}` : `metadata[${name}]`,
    value,
  ])
}

const textOf = (pairs: readonly (readonly [string, string | undefined])[]): string =>
  pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value ?? '')}`)
    .join('&')

const filterPairs = (query: TokenQuery, form: string): Pair[] => [
  ...query.ids.map(id => ['id', id] as const),
  ...query.types.map(type => ['type', type] as const),
  ...query.containers.map(container => ['container', container] as const),
  ...query.fingerprints.map(text => ['fingerprint', text] as const),
  ...metadataPairs(query.metadata, form),
]

/** `exactOptionalPropertyTypes`: absent is not undefined. */
const present = (page: PageInput) => ({
  ...(page.page === undefined ? {} : { page: page.page }),
  ...(page.size === undefined ? {} : { size: page.size }),
})

export const listsOfTokens = commandsOf({
  name: 'list tokens',
  input: fc.record({ by: tokenCallers, filters, paging: pagings }),
  async run(model, server, input) {
    const key = keyOf(model, input.by)
    const query = queryOf(model, input.filters)
    const page = present(input.paging)
    const text = textOf([...filterPairs(query, input.filters.form), ...Object.entries(page)])
    const answer = await send(server, 'GET', `/tokens?${text}`, key)
    expectAnswer(model, answer, listTokens(model, key, query, readPage(page)))
  },
})

const everything: TokenQuery = {
  ids: [],
  types: [],
  containers: [],
  fingerprints: [],
  metadata: [],
}

/** Walks over all tokens and over the tokens of one container: both are under way at once. */
export const walksOfTokens = commandsOf({
  name: 'walk tokens',
  input: fc.record({ by: tokenCallers, container: fc.constantFrom('/', '/a/'), walk: walks }),
  async run(model, server, { by, container, walk }) {
    const key = keyOf(model, by)
    const query = { ...everything, containers: [container] }
    const question = `list ${container}`
    const start = startOf(model, question, walk)
    const text = textOf([
      ['container', container],
      ['size', String(walk.size)],
      ['start', start],
    ])
    const answer = await send(server, 'GET', `/tokens?${text}`, key)
    const part = stretchOf(model, question, start, walk.size, answer)
    expectAnswer(model, answer, listTokens(model, key, query, part))
    keepCursor(model, question, part, answer)
  },
})

export const listsOfApplications = commandsOf({
  name: 'list applications',
  input: fc.record({
    by: managers,
    ids: few(picks),
    types: few(fc.constantFrom('private', 'public', 'management', 'absent')),
    paging: pagings,
  }),
  async run(model, server, { by, ids, types, paging }) {
    const key = keyOf(model, by)
    const known = ids.map(pick => pickOf([...model.applications.keys()], pick) ?? 'absent')
    const query = { ids: known, types, ...present(paging) }
    const text = textOf([
      ...known.map(id => ['id', id] as const),
      ...types.map(type => ['type', type] as const),
      ...Object.entries(present(paging)),
    ])
    const answer = await send(server, 'GET', `/applications?${text}`, key)
    expectAnswer(model, answer, listApplications(model, key, query))
  },
})
