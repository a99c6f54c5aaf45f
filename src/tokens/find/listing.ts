/**
 * Listing tokens: turns filters and rules into one question to the store.
 * @module
 */
import type { Deps } from '../../deps.ts'
import {
  decidedBy,
  decideTransform,
  shownTransform,
  type LesserTransform,
} from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { invalid, invariant } from '../../lib/errors.ts'
import { listAnswerCharsMax } from '../../limits/limits.ts'
import { queryNodesPerTurn } from '../../limits/work-limits.ts'
import { makeTextCount, noteRule, noteShown, type Budgeted } from '../../records/budgeted.ts'
import { type Bounds, allOf, anyOf, sizeOf } from './bounds.ts'
import { unsealCursor, sealCursor } from '../../records/cursor.ts'
import { readTokenPage, readTokensBelow } from './pages.ts'
import { isCodeShown, withCode } from '../code.ts'
import type { StoredToken } from '../token-record.ts'
import { standingExtras, viewStored } from '../read/view.ts'
import { makeWork } from '../../lib/work.ts'
import type { ReadonlyTextMap } from '../../lib/maps.ts'
import { tokenCriteria, type Criteria } from './criteria.ts'
import { payerOf, spendClauses } from './guesses.ts'
import { fingerprintUnder, underEachTransform, visibleTokens } from './visibility.ts'

/*
 * Answers of a list: a page with its total, or a stretch of a walk with its cursor.
 *
 * Source: contract section 4.
 */

/** The part of a list that is requested. */
export type ListPart =
  | { readonly page: number; readonly size: number }
  /**
   * `start` is the cursor of the stretch before, empty at first; `at` is its place in the request.
   * A stretch ends early if more would be too much for one answer; the next begins there.
   */
  | { readonly start: string; readonly at: string; readonly size: number }

/** JSON texts of tokens, newest first. */
export type FoundTokens =
  | { readonly items: readonly string[]; readonly total: number }
  /** `next` is the cursor of the stretch after this one, when there is one. */
  | { readonly items: readonly string[]; readonly next: string | undefined }

interface ListQuestion {
  readonly permission: TokenPermission
  readonly bounds: Bounds
  /** Canonical text of the question; cursors are bound to it. */
  readonly text: string
  /** Transform that the caller has asked for at most. */
  readonly asked: LesserTransform | undefined
  /** Path of the size, which is refused if a page is too much for one answer. */
  readonly sizeAt: string
}

/**
 * Yields between tokens: masks and large data take time. decision: masks are set by others than the
 * reader, so they refuse no list. A page bounds how many there are.
 * @returns the tokens that fit in one answer, at least one
 */
async function show(
  deps: Deps,
  caller: Caller & Budgeted,
  { permission, asked }: ListQuestion,
  tokens: readonly StoredToken[],
): Promise<readonly string[]> {
  const { meter, pause } = makeWork(deps, caller, Infinity)
  const { tenantId, grants } = caller
  const texts: string[] = []
  const counted = makeTextCount(caller)
  for (const listed of tokens) {
    const decided = decideTransform(grants, permission, listed.record)
    invariant(decided !== undefined, 'a listed token is covered by the grants')
    const transform = shownTransform(decided, asked)
    const adding = isCodeShown(transform, listed.record) ? withCode(deps, tenantId, listed) : listed
    const token = adding instanceof Promise ? await adding : adding
    const text = viewStored(
      tenantId,
      token,
      transform,
      standingExtras(grants, token.record, deps.now),
      meter,
    )
    if (counted.add(text) > listAnswerCharsMax && texts.length > 0) break
    counted.reserve()
    texts.push(text)
    noteRule(caller, decidedBy(grants, permission, listed.record))
    noteShown(caller, listed.record.id, transform)
    const turn = pause()
    if (turn !== undefined) await turn
  }
  return texts
}

async function listPage(
  deps: Deps,
  caller: Caller,
  question: ListQuestion,
  { page, size }: { readonly page: number; readonly size: number },
): Promise<FoundTokens> {
  const window = { offset: (page - 1) * size, limit: size, nowMs: deps.now() }
  const { total, tokens } = await readTokenPage(deps, caller, question.bounds, window)
  const items = await show(deps, caller, question, tokens)
  if (items.length === tokens.length) return { total, items }
  throw invalid(
    question.sizeAt,
    `expected a smaller size: the answer would have more than ${listAnswerCharsMax} characters`,
  )
}

async function listStretch(
  deps: Deps,
  caller: Caller,
  question: ListQuestion,
  { start, at, size }: { readonly start: string; readonly at: string; readonly size: number },
): Promise<FoundTokens> {
  const { bounds, text } = question
  const scope = deps.keys.tenant(caller.tenantId)
  const before = start === '' ? undefined : unsealCursor(scope, text, start, at)
  // One more than is shown tells whether there is a next stretch.
  const window = { before, limit: size + 1, nowMs: deps.now() }
  const found = await readTokensBelow(deps, caller, bounds, window)
  const items = await show(deps, caller, question, found.slice(0, size))
  const last = found.length > items.length ? found[items.length - 1] : undefined
  const next = last && sealCursor(scope, deps.randomBytes, text, last.row.ordinal)
  return { next, items }
}

/**
 * Counts, opens and shows only tokens within the bounds. Each part of a question is looked up in
 * every chunk of the store, so one of many parts takes a turn.
 */
export async function listPart(
  deps: Deps,
  caller: Caller,
  question: ListQuestion,
  part: ListPart,
): Promise<FoundTokens> {
  if (sizeOf(question.bounds) > queryNodesPerTurn) await deps.turns.next(caller)
  return 'page' in part
    ? listPage(deps, caller, question, part)
    : listStretch(deps, caller, question, part)
}

/*
 * The filters and the caller's rules become one question over blind terms, so that totals are exact
 * and no token is opened that the caller may not read. Source: contract sections 11 and 14.
 */

/** A filter without values lets every token pass. */
export interface ListFilter {
  readonly ids: readonly string[]
  readonly types: readonly string[]
  readonly containers: readonly string[]
  readonly fingerprints: readonly string[]
  /** All of them must match. */
  readonly metadata: ReadonlyTextMap<string>
  readonly asked?: LesserTransform | undefined
}

const anyOfSome = <T>(values: readonly T[], criterion: (value: T) => Bounds): Bounds[] =>
  values.length === 0 ? [] : [anyOf(values.map(criterion))]

const filterBounds = (criteria: Criteria, filter: ListFilter): Bounds[] => [
  ...anyOfSome(filter.ids, criteria.id),
  ...anyOfSome(filter.types, criteria.type),
  ...anyOfSome(filter.containers, criteria.covering),
  ...[...filter.metadata].map(([name, value]) => criteria.metadata(name, value)),
]

const filterText = (caller: Caller, filter: ListFilter): string => {
  const { ids, types, containers, fingerprints, metadata, asked } = filter
  const less = asked === undefined ? [] : [asked]
  const payer = payerOf(caller, fingerprints.length)
  const asks = [ids, types, containers, fingerprints, [...metadata]]
  return JSON.stringify(['list', ...asks, ...less, ...payer])
}

/**
 * @throws ApiError `invalid_request` for a cursor that is not of this list, `too_many_requests` if
 *   no guesses are left
 */
export async function listTokens(
  deps: Deps,
  caller: Caller,
  filter: ListFilter,
  part: ListPart,
): Promise<FoundTokens> {
  const permission = 'token:read'
  // As in a search, the cursor binds a later stretch to the question of the first.
  const isFirst = 'page' in part || part.start === ''
  const { fingerprints, asked } = filter
  if (isFirst) spendClauses(deps, caller, permission, fingerprints.length, 'query.fingerprint')
  const criteria = tokenCriteria(deps.keys, caller.tenantId)
  const { grants } = caller
  // A caller who is shown no fingerprints may not filter by one either.
  const visible =
    fingerprints.length > 0
      ? underEachTransform(criteria, grants, permission, asked, transform =>
          anyOf(
            fingerprints.map(text =>
              fingerprintUnder(criteria, grants, transform, text, deps.now()),
            ),
          ),
        )
      : visibleTokens(criteria, grants, permission)
  // Filters come first: if they match nothing, the rules are not evaluated.
  const bounds = allOf([...filterBounds(criteria, filter), visible])
  return listPart(
    deps,
    caller,
    { permission, bounds, asked, text: filterText(caller, filter), sizeAt: 'query.size' },
    part,
  )
}
