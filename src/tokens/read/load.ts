/**
 * Loading one token: absent and hidden ones cost the same and look the same.
 * @module
 */
import type { KeyScope } from '../../crypto/keyring.ts'
import type { Deps } from '../../deps.ts'
import { inNoStore } from '../../records/seal-row.ts'
import { isExpired } from '../../records/expiry.ts'
import { noteRule, reserveRows, type Budgeted } from '../../records/budgeted.ts'
import type { Row } from '../../store/contract.ts'
import {
  checkToken,
  hasLongRecord,
  sealToken,
  type TokenContents,
  verdictParts,
  type StoredToken,
  type TokenRecord,
} from '../token-record.ts'
import { isCodeShown, withCode } from '../code.ts'
import { tokenUnique } from '../token-id.ts'
import { mayMatch } from '../find/bounds.ts'
import { tokenCriteria } from '../find/criteria.ts'
import { assertLookupsLeft, spendLookup } from '../find/guesses.ts'
import { visibleTokens } from '../find/visibility.ts'
import { decidedBy, decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { ApiError, assertStored } from '../../lib/errors.ts'
import { andThen, type MaybeLater } from '../../lib/waiting.ts'

/*
 * Stand-in that is opened when a token is absent.
 *
 * An absent token thus costs the same as one that the caller's rules do not cover: one look-up, one
 * opening, one decision (contract section 2). The stand-in has the size of a token of type
 * `card_number`, and is in no store.
 */

const nobody = '00000000-0000-4000-8000-000000000000'

const record: TokenRecord = {
  id: nobody,
  idIsRandom: true,
  type: 'card_number',
  containers: ['/pci/high/'],
  fingerprint: '1'.repeat(44),
  fingerprintExpression: '{{ data | stringify }}',
  searchIndexes: ['{{ data }}', '{{ data | last4 }}'],
  maskText: '"{{ data | reveal_last: 4 }}"',
  maskedText: '"************0000"',
  createdBy: nobody,
  createdAtMs: 0,
}

const contents: TokenContents = {
  dataText: '"0000000000000000"',
  metadata: new Map(),
  searchValues: ['0000000000000000', '0000'],
  isShownMasked: true,
}

interface StandIn {
  readonly row: Row
  /** Opens its record. */
  readonly unseal: () => StoredToken
}

const standIns = new WeakMap<KeyScope, StandIn>()

/** Returns the stand-in of a tenant, which is sealed once. */
function standInOf(deps: Pick<Deps, 'keys' | 'randomBytes'>, tenantId: string): StandIn {
  const scope = deps.keys.tenant(tenantId)
  const known = standIns.get(scope)
  if (known !== undefined) return known
  const row = inNoStore(sealToken(deps, tenantId, record, contents, 1))
  const made = { row, unseal: checkToken(deps.keys, tenantId, row) }
  standIns.set(scope, made)
  return made
}

/*
 * Finding one token for one caller.
 *
 * A token that the caller's rules do not cover answers exactly as an absent one, and both cost the
 * same work: the verdict comes before more of it is read (contract section 2). The data of a long
 * token is read once it is in reach, then all of it is judged again. A long record is opened if its
 * row's terms let a rule cover it, else the stand-in's.
 * decision: the folder engine copies whole rows, and rules on part of a segment or of a random id
 * are decided by the record alone. So timing may reveal, within µs, a hidden token with much data
 * or metadata.
 */

export interface LoadedToken extends StoredToken {
  /** Transform of the rule or plain permission that covers the token. */
  readonly transform: Transform
}

export const absentToken = () =>
  new ApiError('not_found', 'There is no such token, or none that this key may see.')

/** Returns true if some rule may cover a token, judged by its terms alone. */
function mayCover(
  { keys }: Deps,
  { tenantId, grants }: Caller,
  permission: TokenPermission,
  { clear }: Row,
): boolean {
  return mayMatch(visibleTokens(tokenCriteria(keys, tenantId), grants, permission), clear)
}

/**
 * @param found  may be a glimpse: then the data cannot be opened
 * @returns `undefined` if the record must decide, and the glimpse lacks it
 */
function judge(
  deps: Deps,
  caller: Caller & Budgeted,
  permission: TokenPermission,
  found: Row | undefined,
  nowMs: number,
): LoadedToken | undefined {
  const { keys } = deps
  const { tenantId, grants } = caller
  const isThere = found !== undefined && !isExpired(found, nowMs)
  const row = isThere ? found : standInOf(deps, tenantId).row
  const check = checkToken(keys, tenantId, row)
  const isLong = hasLongRecord(row)
  const isExcluded = isLong && !mayCover(deps, caller, permission, row)
  if (!isExcluded && row.parts.length < verdictParts) return undefined
  const token = isExcluded ? standInOf(deps, tenantId).unseal() : check()
  const transform = decideTransform(grants, permission, token.record)
  // Named for an absent token too, so that both cost the same.
  const rule = decidedBy(grants, permission, token.record)
  if (isThere) noteRule(caller, isExcluded ? 'none' : rule)
  if (!isThere || isExcluded || transform === undefined) {
    // Every refusal costs this much.
    if (!isLong) mayCover(deps, caller, permission, row)
    spendLookup(deps, caller, permission)
    throw absentToken()
  }
  // Not a spread: this is on the path of every read.
  const { record, unsealData } = token
  return { row, record, unsealData, transform }
}

/**
 * @throws ApiError `not_found` when it is absent, expired, or not covered for that permission;
 *   `overloaded` if its data needs more memory than is free; `too_many_requests` if the caller has
 *   looked up too many ids in vain
 * decision: not `async`. With a promise for each step from here to the answer, a read took some 5 %
 * more processor time in process.
 */
export function loadToken(
  deps: Deps,
  caller: Caller & Budgeted,
  permission: TokenPermission,
  id: string,
): MaybeLater<LoadedToken> {
  return andThen(loadWithoutCode(deps, caller, permission, id), token =>
    isCodeNeeded(permission, token) ? withCode(deps, caller.tenantId, token) : token,
  )
}

const isCodeNeeded = (permission: TokenPermission, { record, transform }: LoadedToken): boolean =>
  isCodeShown(transform, record) || (record.code !== undefined && permission === 'token:update')

function loadWithoutCode(
  deps: Deps,
  caller: Caller & Budgeted,
  permission: TokenPermission,
  id: string,
): MaybeLater<LoadedToken> {
  const { keys, store } = deps
  const nowMs = deps.now()
  const unique = tokenUnique(keys, caller.tenantId, id)
  const load = (found: Row | undefined): LoadedToken => {
    const token = judge(deps, caller, permission, found, nowMs)
    assertStored(token !== undefined, 'a token with its record')
    reserveRows(caller, [token.row])
    return token
  }
  assertLookupsLeft(deps, caller, permission)
  return andThen(store.glance(unique, verdictParts), glimpse => {
    if (glimpse?.partCount === undefined) return load(glimpse)
    const judged = judge(deps, caller, permission, glimpse, nowMs)
    // Hundreds that are then refused would be read at once, and keep a database from others.
    if (judged !== undefined) reserveRows(caller, [glimpse])
    return andThen(store.find(unique), load)
  })
}
