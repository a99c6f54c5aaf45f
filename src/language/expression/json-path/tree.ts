/**
 * What a JSONPath query means, as plain data. Source: RFC 9535 section 2.
 * @module
 */
import type { Scalar } from '../tree.ts'

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'index'; readonly index: number }
  | {
      readonly kind: 'slice'
      readonly start: number | undefined
      readonly end: number | undefined
      readonly step: number
    }
  | { readonly kind: 'filter'; readonly test: Test }

export interface Segment {
  /** `..`: applies to the node and to all below it. */
  readonly isDescendant: boolean
  readonly selectors: readonly Selector[]
}

export type Query = readonly Segment[]

/** A query inside a filter: `@` starts at the node under test, `$` at the root. */
export interface FilterQuery {
  readonly isRelative: boolean
  readonly segments: Query
}

export type Operator = '==' | '!=' | '<=' | '>=' | '<' | '>'

/** What a comparison compares. A query in it is singular: it yields one node at most. */
export type Comparable =
  | { readonly kind: 'constant'; readonly value: Scalar }
  | { readonly kind: 'query'; readonly query: FilterQuery }
  | { readonly kind: 'length'; readonly of: Comparable }
  | { readonly kind: 'count' | 'value'; readonly query: FilterQuery }

export type Test =
  | { readonly kind: 'any' | 'all'; readonly tests: readonly Test[] }
  | { readonly kind: 'not'; readonly test: Test }
  | { readonly kind: 'exists'; readonly query: FilterQuery }
  | {
      readonly kind: 'compare'
      readonly left: Comparable
      readonly operator: Operator
      readonly right: Comparable
    }

/** True when each segment picks one node at most (RFC 9535 section 2.3.5.1). */
export const isSingular = (query: FilterQuery): boolean =>
  query.segments.every(
    ({ isDescendant, selectors }) =>
      !isDescendant &&
      selectors.length === 1 &&
      selectors.every(({ kind }) => kind === 'name' || kind === 'index'),
  )
