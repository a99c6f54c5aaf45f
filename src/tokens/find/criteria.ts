/**
 * Search criteria: each one turns a single property of a token into bounds.
 *
 * Rules, filters and searches are built from these alone. Nearly all are exact: one or a few terms.
 * @module
 */
import { timingSafeEqual } from 'node:crypto'
import type { Keys, KeyScope } from '../../crypto/keyring.ts'
import { coverDays } from '../../rules/instants.ts'
import { isUuid, longestPrefix, mayBeginUuid } from '../../rules/token-ids.ts'
import type { Digest } from '../../store/contract.ts'
import { anyOf, exactly, nothing, without, type Bounds } from './bounds.ts'
import { tokenTerms, type StoredToken, type TokenRecord } from '../token-record.ts'
import { tokenUnique } from '../token-id.ts'
import { isFingerprintHidden } from '../read/view.ts'

/** The sealed parts authenticate the header of a row, so its terms are trusted. */
const holds = ({ row }: StoredToken, term: Digest): boolean =>
  row.terms.some(held => timingSafeEqual(held, term))

const ofTerm = (term: Digest): Bounds => exactly({ term }, token => holds(token, term))

const ofTerms = (terms: readonly Digest[]): Bounds => anyOf(terms.map(ofTerm))

/** Tokens of `sure` match; those of `doubtful` match if they pass the test (as all `sure` do). */
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

/** Whole days are exact; tokens of the first and last day are opened and tested. */
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
    /** A beginning that ends within a segment is searched below the container before it. */
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
    /** Chosen ids are found by their longest stored prefix, random ones only by testing each. */
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

const makeCriteria = (keys: Keys, tenantId: string) => {
  const terms = tokenTerms(keys, tenantId)
  const every = ofTerm(terms.every())
  return {
    every,
    ...placeCriteria(terms, every),
    ...idCriteria(keys, tenantId, every),
    type: (type: string) => ofTerm(terms.type(type)),
    fingerprint: (text: string) =>
      ofTerms([terms.fingerprint(text), terms.hiddenFingerprint(text)]),
    /** Matches tokens that show it to a caller who does not see all data. */
    fingerprintShown(text: string, nowMs: number): Bounds {
      const [shown, hidden] = [terms.fingerprint(text), terms.hiddenFingerprint(text)]
      return {
        upper: { any: [{ term: shown }, { term: hidden }] },
        lower: { term: shown },
        doubt: { term: hidden },
        matches: token =>
          holds(token, shown) ||
          (holds(token, hidden) && !isFingerprintHidden(token.record, nowMs)),
      }
    },
    metadata: (name: string, value: string) => ofTerm(terms.metadata(name, value)),
    search: (value: string) => ofTerms([terms.searchShown(value), terms.searchBlank(value)]),
    /** Matches only tokens whose mask shows some of their data. */
    searchMasked: (value: string) => ofTerm(terms.searchShown(value)),
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

export type Criteria = ReturnType<typeof makeCriteria>

const opened = new WeakMap<KeyScope, Criteria>()

/**
 * Criteria of one tenant. Always the same object, so that `every` can be compared by identity.
 * Texts are compared as the terms of `record.ts` fold them.
 */
export function tokenCriteria(keys: Keys, tenantId: string): Criteria {
  const scope = keys.tenant(tenantId)
  let criteria = opened.get(scope)
  if (criteria === undefined) {
    criteria = makeCriteria(keys, tenantId)
    opened.set(scope, criteria)
  }
  return criteria
}
