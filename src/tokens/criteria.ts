/**
 * What tokens can be found by, one criterion at a time, as bounds.
 *
 * Rules, filters and searches are made of these alone. Nearly all are exact: one or a few terms.
 * @module
 */
import { timingSafeEqual } from 'node:crypto'
import type { Keys } from '../crypto/scope.ts'
import { coverDays } from '../domain/day-spans.ts'
import { isUuid, longestPrefix, mayBeginUuid } from '../domain/id-prefixes.ts'
import type { Digest } from '../store/contract.ts'
import { anyOf, exactly, nothing, without, type Bounds } from './bounds.ts'
import { tokenTerms, tokenUnique } from './record.ts'
import type { TokenRecord } from './stored-form.ts'

/** The header of a row is authenticated by its sealed parts, so its terms may be believed. */
const ofTerm = (term: Digest): Bounds =>
  exactly({ term }, ({ row }) => row.terms.some(held => timingSafeEqual(held, term)))

const ofTerms = (terms: readonly Digest[]): Bounds => anyOf(terms.map(ofTerm))

/** All of `sure` match, and of `doubtful` those that pass the test, which is true of `sure` too. */
const testing = (
  sure: Bounds,
  doubtful: readonly Bounds[],
  passes: (record: TokenRecord) => boolean,
): Bounds => ({
  upper: doubtful.length === 0 ? sure.upper : anyOf([sure, ...doubtful]).upper,
  lower: sure.lower,
  matches: ({ record }) => passes(record),
})

interface InstantTerms {
  readonly day: (day: number) => Digest
  readonly span: (span: number) => Digest
  readonly epochMsOf: (record: TokenRecord) => number | undefined
}

/** Whole days are sure; of the two at the ends it takes a look. */
const instantWithin =
  ({ day, span, epochMsOf }: InstantTerms) =>
  (fromMs: number, beforeMs: number): Bounds => {
    const { days, spans, borderDays } = coverDays(fromMs, beforeMs)
    const sure = ofTerms([...days.map(day), ...spans.map(span)])
    return testing(sure, borderDays.map(day).map(ofTerm), record => {
      const epochMs = epochMsOf(record)
      return epochMs !== undefined && epochMs >= fromMs && epochMs < beforeMs
    })
  }

const placeCriteria = (terms: ReturnType<typeof tokenTerms>, every: Bounds) => {
  /** A container covers itself and all below it; `/` covers all. Both in normal form. */
  const covering = (container: string): Bounds =>
    container === '/'
      ? every
      : ofTerms([terms.container(container), terms.belowContainer(container)])
  return {
    covering,
    container: (container: string) => ofTerm(terms.container(container)),
    /** A beginning that ends within a segment is looked for below the container before it. */
    containerStart: (text: string): Bounds => {
      if (text === '') return every
      if (!text.startsWith('/')) return nothing
      if (text.endsWith('/')) return covering(text)
      const above = covering(text.slice(0, text.lastIndexOf('/') + 1))
      return testing(nothing, [above], ({ containers }) =>
        containers.some(container => container.startsWith(text)),
      )
    },
  }
}

const idCriteria = (keys: Keys, tenantId: string, every: Bounds) => {
  const terms = tokenTerms(keys, tenantId)
  const id = (wanted: string): Bounds =>
    exactly({ unique: tokenUnique(keys, tenantId, wanted) }, ({ record }) => record.id === wanted)
  return {
    id,
    /** Chosen ids are found by a beginning of this beginning, random ones only by a look. */
    idStart: (text: string): Bounds => {
      if (text === '') return every
      const prefix = longestPrefix(text)
      const chosen = ofTerm(terms.idPrefix(prefix))
      const random = without(every, ofTerm(terms.idPrefix('')))
      const sure = [...(prefix === text ? [chosen] : []), ...(isUuid(text) ? [id(text)] : [])]
      const mayBeRandom = mayBeginUuid(text) && !isUuid(text)
      const doubtful = [...(prefix === text ? [] : [chosen]), ...(mayBeRandom ? [random] : [])]
      return testing(anyOf(sure), doubtful, record => record.id.startsWith(text))
    },
  }
}

/** The criteria of one tenant. Texts are compared as the terms of `record.ts` fold them. */
export const tokenCriteria = (keys: Keys, tenantId: string) => {
  const terms = tokenTerms(keys, tenantId)
  const every = ofTerm(terms.every())
  return {
    every,
    ...placeCriteria(terms, every),
    ...idCriteria(keys, tenantId, every),
    type: (type: string) => ofTerm(terms.type(type)),
    fingerprint: (text: string) => ofTerm(terms.fingerprint(text)),
    metadata: (name: string, value: string) => ofTerm(terms.metadata(name, value)),
    search: (value: string) => ofTerm(terms.search(value)),
    createdBy: (applicationId: string) => ofTerm(terms.createdBy(applicationId)),
    modifiedBy: (applicationId: string) => ofTerm(terms.modifiedBy(applicationId)),
    createdWithin: instantWithin({
      day: terms.createdDay,
      span: terms.createdSpan,
      epochMsOf: record => record.createdAtMs,
    }),
    modifiedWithin: instantWithin({
      day: terms.modifiedDay,
      span: terms.modifiedSpan,
      epochMsOf: record => record.modifiedAtMs,
    }),
  }
}

export type Criteria = ReturnType<typeof tokenCriteria>
