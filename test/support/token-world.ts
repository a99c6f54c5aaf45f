/**
 * Small worlds of tokens, callers and searches in which all combinations occur, and the slow twin
 * of lists and searches: it answers every question by checking every token.
 * @module
 */
import fc from 'fast-check'
import {
  decideTransform,
  type Grants,
  type Rule,
  type RuledPlace,
  type Transform,
} from '../../src/rules/access.ts'
import type { Caller } from '../../src/rules/caller.ts'
import type { SearchTree } from '../../src/language/search-query.ts'
import type { TokenRecord } from '../../src/tokens/token-record.ts'
import { searchTrees } from './search-trees.ts'

const containers = ['/', '/a/', '/a/b/', '/a/b/c/', '/ab/', '/b/'] as const
const starts = ['', '/', '/a', '/a/', '/ab', '/a/b', '/a/b/', '/x', '/a/b/c/'] as const
const applications = [
  '00000000-0000-4000-8000-00000000000a',
  '00000000-0000-4000-8000-00000000000b',
]
const types = ['token', 'card_number', 'bank'] as const
const chosenIds = ['abc', 'abcd', 'abcd-1', 'abcdefgh', 'abcdefgh-1', 'dead', 'deadbeef', 'a😀b😀c']
const randomIds = [
  'abcdef00-0000-4000-8000-000000000001',
  'deadbeef-0000-4000-8000-000000000002',
  'deadbeef-0000-4000-8000-000000000003',
]
const idStarts = [
  '',
  'a',
  'abc',
  'abcd',
  'abcde',
  'abcdefgh',
  'dea',
  'dead',
  'deadbeef-0',
  'a😀',
  'z',
]
const keys = ['k', 'K', 'l'] as const
const texts = ['x', 'X', 'y', ''] as const
const dayMs = 86_400_000
const noon = Date.UTC(2030, 0, 1, 12)
const instants = [
  ...[0, 1, 12 * 3_600_000, dayMs - 1, dayMs, 40 * dayMs, 200 * dayMs].map(ms => noon + ms),
  Date.UTC(2019, 0),
  Date.UTC(1999, 0),
  Date.UTC(2071, 0),
]

/** A token as the twin sees it. */
export interface WorldToken {
  readonly record: TokenRecord
  readonly metadata: ReadonlyMap<string, string>
  readonly searchValues: readonly string[]
  /** True if the mask shows any of the data, which is `1`. */
  readonly isShownMasked: boolean
}

const sample = fc.constantFrom

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })

const showing = '"{{ data }}"'

const sketches = fc.record({
  container: sample(...containers),
  type: sample(...types),
  fingerprint: sample('f1', 'f2'),
  createdBy: sample(...applications),
  createdAtMs: sample(...instants),
  modified: optional(fc.record({ by: sample(...applications), atMs: sample(...instants) })),
  metadata: fc.uniqueArray(fc.tuple(sample(...keys), sample(...texts)), { selector: ([k]) => k }),
  searchValues: fc.uniqueArray(sample('4242', 'Abc', 'aBC'), { maxLength: 2 }),
  maskText: sample(undefined, showing, '"{{ data.x }}"', '"constant"', '["{{ data | first }}"]'),
})

const tokenOf = (id: string, sketch: typeof sketches extends fc.Arbitrary<infer T> ? T : never) => {
  const { container, type, fingerprint, createdBy, createdAtMs, modified } = sketch
  const metadata = new Map<string, string>(sketch.metadata)
  const record: TokenRecord = {
    id,
    ...(randomIds.includes(id) ? { idIsRandom: true } : {}),
    type,
    containers: [container],
    fingerprint,
    fingerprintExpression: '{{ data }}',
    searchIndexes: [],
    ...(sketch.maskText === undefined ? {} : { maskText: sketch.maskText }),
    createdBy,
    createdAtMs,
    ...(modified === undefined ? {} : { modifiedBy: modified.by, modifiedAtMs: modified.atMs }),
  }
  const { searchValues } = sketch
  return { record, metadata, searchValues, isShownMasked: sketch.maskText === showing }
}

/** At most one token for each id. */
export const tokenSets: fc.Arbitrary<readonly WorldToken[]> = fc
  .tuple(
    fc.shuffledSubarray([...chosenIds, ...randomIds]),
    fc.array(sketches, { minLength: 11, maxLength: 11 }),
  )
  .map(([ids, drawn]) =>
    ids.flatMap((id, index) => {
      const sketch = drawn[index]
      return sketch === undefined ? [] : [tokenOf(id, sketch)]
    }),
  )

const conditions = fc.oneof(
  fc.record({
    attribute: sample('id' as const),
    operator: sample('equals' as const),
    value: sample(...chosenIds, ...randomIds),
  }),
  fc.record({
    attribute: sample('id' as const),
    operator: sample('starts_with' as const),
    value: sample(...idStarts, ...randomIds),
  }),
  fc.record({
    attribute: sample('container' as const),
    operator: sample('equals' as const),
    value: sample(...containers),
  }),
  fc.record({
    attribute: sample('container' as const),
    operator: sample('starts_with' as const),
    value: sample(...starts, 'a', 'x/'),
  }),
)

const permissions = fc.subarray(['token:read', 'token:search', 'token:create'] as const)
const transforms = sample('redact', 'mask', 'reveal' as const)

const rules: fc.Arbitrary<Rule> = fc.oneof(
  fc.record({
    priority: fc.constant(0),
    container: sample(...containers),
    transform: transforms,
    permissions,
  }),
  fc.record({
    priority: fc.constant(0),
    conditions: fc.array(conditions, { maxLength: 3 }),
    transform: transforms,
    permissions,
  }),
)

export const grantsOfAnyKind: fc.Arbitrary<Grants> = fc.record({
  permissions: fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, permissions),
  rules: fc
    .array(rules, { maxLength: 5 })
    .map(drawn => drawn.map((rule, index) => ({ ...rule, priority: index + 1 }))),
})

/** Places of tokens that those grants tell apart. */
export const places: fc.Arbitrary<RuledPlace> = fc.record({
  id: sample(...chosenIds, ...randomIds),
  containers: fc.tuple(sample(...containers)),
})

export const callerOf = (tenantId: string, grants: Grants): Caller => ({
  tenantId,
  applicationId: applications[0] ?? '',
  type: 'private',
  grants,
  expiresAtMs: undefined,
  credential: { ordinal: 1, version: 1, uniques: [] },
  dependsOn: [],
  keyNumber: 0,
})

export const searches: fc.Arbitrary<SearchTree> = searchTrees({
  texts: {
    id: sample(...chosenIds, ...randomIds, 'absent'),
    type: sample(...types),
    data: sample('4242', 'ABC', 'abc', '424'),
    fingerprint: sample('f1', 'F1'),
    applicationId: sample(...applications),
  },
  keys: sample(...keys),
  metadata: sample(...texts),
  containers: sample(...containers),
  containerStarts: sample(...starts),
  instants: sample(...instants),
})

const fold = (text: string): string => text.toLowerCase()

function holds(tree: SearchTree, token: WorldToken, transform: Transform): boolean {
  const part = (inner: SearchTree) => holds(inner, token, transform)
  if ('all' in tree) return tree.all.every(part)
  if ('any' in tree) return tree.any.some(part)
  if ('not' in tree) return !part(tree.not)
  const { record, metadata, searchValues, isShownMasked } = token
  const isShown = transform === 'reveal' || (transform === 'mask' && isShownMasked)
  const within = (epochMs: number | undefined, range: { fromMs: number; beforeMs: number }) =>
    epochMs !== undefined && epochMs >= range.fromMs && epochMs < range.beforeMs
  switch (tree.field) {
    case 'data':
      return isShown && searchValues.some(value => fold(value) === fold(tree.value))
    case 'fingerprint':
      return transform !== 'redact' && record.fingerprint === tree.value
    case 'metadata':
      return [...metadata].some(
        ([key, value]) => fold(key) === fold(tree.key) && fold(value) === fold(tree.value),
      )
    case 'container':
      return record.containers.some(container =>
        tree.isStart ? container.startsWith(tree.value) : container === tree.value,
      )
    case 'created_by':
      return record.createdBy === tree.value
    case 'modified_by':
      return record.modifiedBy === tree.value
    case 'created_at':
      return within(record.createdAtMs, tree)
    case 'modified_at':
      return within(record.modifiedAtMs, tree)
    default:
      return record[tree.field] === tree.value
  }
}

/** @param tokens newest first; `tree` undefined finds all visible ones */
export const findSlowly = (
  tokens: readonly WorldToken[],
  grants: Grants,
  permission: 'token:read' | 'token:search',
  tree?: SearchTree,
): readonly WorldToken[] =>
  tokens.filter(token => {
    const transform = decideTransform(grants, permission, token.record)
    if (transform === undefined) return false
    return tree === undefined || holds(tree, token, transform)
  })
