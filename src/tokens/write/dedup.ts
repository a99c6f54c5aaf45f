/**
 * Deduplication: which token stands for another one of equal content.
 *
 * Tokens are equal by type and fingerprint (a fingerprint is taken of both). A caller who
 * deduplicates looks for an equal token in its reach by terms, so tokens of any origin count. What
 * decides a race are uniques, the seats of a content: a token with deduplication on holds the first
 * seat that is free, and is written only while the holders before it stand as they were seen. A
 * caller that meets a token in reach on the way takes none: a create answers with that token, an
 * update is written only while that one stands. So of two creates that see the same seats one fails
 * and looks again, and tokens out of reach decide nothing. decision: the last seat is of the
 * creator alone, for contents that very many keep apart from one another. A seat that was taken and
 * left while another create was under way is not noticed; that takes three writes of equal content
 * within one.
 * Source: contract section 8.
 * @module
 */
import { uniqueDigest, type Keys } from '../../crypto/keyring.ts'
import type { Deps } from '../../deps.ts'
import type { Caller } from '../../rules/caller.ts'
import { dedupSeatsMax } from '../../limits/limits.ts'
import { standingHolderAttemptsMax } from '../../limits/work-limits.ts'
import { isExpired } from '../../records/expiry.ts'
import { unchanged, type Requirement } from '../../records/read-row.ts'
import type { Budgeted } from '../../records/budgeted.ts'
import type { Row } from '../../store/contract.ts'
import { allOf, mayMatch, without, type Bounds } from '../find/bounds.ts'
import { tokenCriteria } from '../find/criteria.ts'
import { readOldestToken } from '../find/pages.ts'
import { fingerprintCompared, type VisibleTokens } from '../find/visibility.ts'
import {
  checkToken,
  type StoredToken,
  termsOf,
  type TokenRecord,
  unsealToken,
  verdictParts,
} from '../token-record.ts'
import { removeExpired } from '../expired-token.ts'
import { tokenUnique } from '../token-id.ts'
import { hexOf } from '../../lib/bytes.ts'
import { isJsonObject } from '../../lib/json/json.ts'
import { parseJson } from '../../lib/json/parse-json.ts'

type Contents = Pick<TokenRecord, 'type' | 'fingerprint'>

/** The seats of a content in the order in which they are taken; each is made when it is needed. */
export function* dedupSeats(
  keys: Keys,
  tenantId: string,
  { type, fingerprint, createdBy }: Contents & Pick<TokenRecord, 'createdBy'>,
): Generator<Uint8Array> {
  const scope = keys.tenant(tenantId)
  const seat = (...more: readonly string[]) =>
    uniqueDigest(scope, 'token-dedup', type, fingerprint, ...more)
  yield seat()
  for (let number = 1; number < dedupSeatsMax - 1; number += 1) yield seat(String(number))
  yield seat('creator', createdBy)
}

function findOldest(
  deps: Deps,
  caller: Caller & Budgeted,
  within: Bounds,
  equal: Bounds,
): Promise<StoredToken | undefined> {
  const { every } = tokenCriteria(deps.keys, caller.tenantId)
  const wanted = within === every ? equal : allOf([equal, within])
  const read = () => readOldestToken(deps, caller, wanted, deps.now())
  return caller.inPageTurn === undefined ? read() : caller.inPageTurn(read)
}

/**
 * The oldest live token of equal content, so that later ones change no answer.
 * @param within where it is looked for
 */
export const findEqual = (
  deps: Deps,
  caller: Caller & Budgeted,
  within: Bounds,
  { fingerprint }: Contents,
): Promise<StoredToken | undefined> => {
  const { keys } = deps
  const equal = tokenCriteria(keys, caller.tenantId).fingerprint(fingerprint)
  return findOldest(deps, caller, within, equal)
}

/**
 * The oldest live one that equals a changed token. decision: a caller who does not see all data is
 * told of none whose fingerprint is hidden. It may have made any number of those, so that a single
 * change would compare hidden data with all of them.
 */
export function findEqualOf(
  deps: Deps,
  caller: Caller & Budgeted,
  within: Bounds,
  { id, fingerprint }: Pick<TokenRecord, 'id' | 'fingerprint'>,
): Promise<StoredToken | undefined> {
  const criteria = tokenCriteria(deps.keys, caller.tenantId)
  const compared = fingerprintCompared(criteria, caller.grants, fingerprint, deps.now())
  return findOldest(deps, caller, within, without(compared, criteria.id(id)))
}

/** A seat that a token holds: the uniques it is sealed with, and conditions on other holders. */
interface DedupSeat {
  readonly uniques: readonly Uint8Array[]
  readonly changes: readonly Requirement[]
  /** A live token in reach holds a seat: of two equal ones that race it was the faster. */
  readonly hasEqual: boolean
}

const noSeat: DedupSeat = { uniques: [], changes: [], hasEqual: false }

/** Out of reach its record is not opened, nor its data read, which may be long (`read/load.ts`). */
async function isInReach(
  { store, keys, now }: Deps,
  tenantId: string,
  { tokens }: VisibleTokens,
  seat: Uint8Array,
  holder: Row,
): Promise<boolean> {
  // A token that a fast clock has ended is passed over: neither answered with nor removed.
  if (isExpired(holder, now())) return false
  const unseal = checkToken(keys, tenantId, holder)
  if (!mayMatch(tokens, holder.clear)) return false
  if (holder.parts.length >= verdictParts) return tokens.matches(unseal())
  const whole = await store.find(seat)
  return whole !== undefined && tokens.matches(unsealToken(keys, tenantId, whole))
}

/** A look at the seats of a content. */
interface SeatLook {
  /** Place of the token that is changed; absent for a new one. */
  readonly ordinal?: number
  /** Counts the attempts to write it, from 1. */
  readonly attempt: number
}

/**
 * decision: after some attempts a holder out of reach need not stand any more. If it is changed
 * again and again, a refused write would tell that there is an equal token. Of creates that race
 * amid this, two may then land.
 */
export async function decideSeat(
  deps: Deps,
  { tenantId }: Caller,
  reach: VisibleTokens,
  record: TokenRecord,
  { ordinal, attempt }: SeatLook,
): Promise<DedupSeat> {
  if (record.deduplicates !== true) return noSeat
  const changes: Requirement[] = []
  for (const seat of dedupSeats(deps.keys, tenantId, record)) {
    const holder = await deps.store.glance(seat, verdictParts)
    if (holder === undefined || holder.ordinal === ordinal) {
      return { uniques: [seat], changes, hasEqual: false }
    }
    if (isExpired(holder, deps.settled())) {
      await removeExpired(deps, tenantId, seat, holder)
      return { uniques: [seat], changes, hasEqual: false }
    }
    const hasEqual = await isInReach(deps, tenantId, reach, seat, holder)
    if (hasEqual || attempt <= standingHolderAttemptsMax) changes.push(unchanged(holder))
    if (hasEqual) return { uniques: [], changes, hasEqual }
  }
  return { uniques: [], changes, hasEqual: false }
}

/*
 * Checks that a stored token can be found by its content: its row against its own record.
 *
 * The sealed parts authenticate the row as it was written, so this finds what was written wrong.
 * decision: search values are only counted. Their expressions may mean more in a later version, and
 * what an older one has found then stays as it was.
 */

function metadataOf({ metadataText }: TokenRecord): ReadonlyMap<string, string> {
  const metadata = metadataText === undefined ? undefined : parseJson(metadataText)
  if (metadata === undefined || !isJsonObject(metadata)) return new Map()
  return new Map([...metadata].map(([name, value]) => [name, String(value)]))
}

const textsOf = (digests: readonly Uint8Array[]): Set<string> => new Set(digests.map(hexOf))

function hasUniques(keys: Keys, tenantId: string, record: TokenRecord, row: Row): boolean {
  const [id, dedup, ...more] = [...textsOf(row.uniques)]
  const mayHold =
    record.deduplicates === true ? textsOf([...dedupSeats(keys, tenantId, record)]) : new Set()
  const isHeld = dedup === undefined || mayHold.has(dedup)
  return id === hexOf(tokenUnique(keys, tenantId, record.id)) && isHeld && more.length === 0
}

function hasTerms(keys: Keys, tenantId: string, record: TokenRecord, row: Row): boolean {
  const contents = { metadata: metadataOf(record), searchValues: [], isShownMasked: false }
  const wanted = textsOf(termsOf(keys, tenantId, record, contents))
  const held = textsOf(row.terms)
  const searched = held.size - wanted.size
  return searched <= record.searchIndexes.length && wanted.isSubsetOf(held)
}

/**
 * Opens all parts of a token; its code stays under the key of its end.
 * @throws ApiError `storage_corrupt` when they are not a token of that tenant
 */
export function isFoundByItsRecord(keys: Keys, tenantId: string, row: Row): boolean {
  const { record, unsealData } = unsealToken(keys, tenantId, row)
  unsealData()
  return (
    row.deadlineMs === record.expiresAt?.epochMs &&
    hasUniques(keys, tenantId, record, row) &&
    hasTerms(keys, tenantId, record, row)
  )
}
