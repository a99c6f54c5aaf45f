/**
 * Loading one token: absent and hidden ones cost the same and look the same.
 * @module
 */
import type { KeyScope } from '../../crypto/keyring.ts'
import type { Deps } from '../../deps.ts'
import { inNoStore, isExpired, makeRoom, type Housed } from '../../records/rows.ts'
import type { Row } from '../../store/contract.ts'
import {
  sealToken,
  type TokenContents,
  unsealToken,
  verdictParts,
  type StoredToken,
  type TokenRecord,
} from '../record.ts'
import { isCodeShown, untilWhole, withCode } from '../code.ts'
import { tokenUnique } from '../id.ts'
import { assertLookupsLeft, spendLookup } from '../find/guesses.ts'
import { decideTransform, type Transform } from '../../rules/access.ts'
import type { Caller } from '../../rules/caller.ts'
import type { TokenPermission } from '../../rules/permissions.ts'
import { ApiError } from '../../errors.ts'
import { andThen, type MaybeLater } from '../../waiting.ts'

/*
 * What is opened in place of a token that is not there.
 *
 * An absent token then costs what one costs that the caller's rules do not cover: one look-up, one
 * opening, one decision (contract section 2). It has the size of a token of type `card_number`, and
 * is in no store.
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

const standIns = new WeakMap<KeyScope, Row>()

/** The stand-in of a tenant, sealed once. */
function standInOf(deps: Pick<Deps, 'keys' | 'randomBytes'>, tenantId: string): Row {
  const scope = deps.keys.tenant(tenantId)
  const known = standIns.get(scope)
  if (known !== undefined) return known
  const row = inNoStore(sealToken(deps, tenantId, record, contents, 1))
  standIns.set(scope, row)
  return row
}

/*
 * Finding one token for one caller.
 *
 * A token that the caller's rules do not cover answers exactly as an absent one, and both cost the
 * same work: the verdict comes before any more of it is read (contract section 2). So the data of a
 * long one is read when it is in reach, and all of it is judged anew as it then stands.
 * decision: the record, with metadata and what a mask shows, is opened before the verdict, and the
 * engine of a folder copies a row whole; by either a hidden token may be told, within some µs.
 */

export interface LoadedToken extends StoredToken {
  /** Of the rule or plain permission that covers the token. */
  readonly transform: Transform
}

export const absentToken = () =>
  new ApiError('not_found', 'There is no such token, or none that this key may see.')

/** Where the row was read as far as its record, the data cannot be opened. */
function judge(
  deps: Deps,
  caller: Caller,
  permission: TokenPermission,
  found: Row | undefined,
  nowMs: number,
): LoadedToken {
  const { keys } = deps
  const { tenantId, grants } = caller
  const isThere = found !== undefined && !isExpired(found, nowMs)
  const row = isThere ? found : standInOf(deps, tenantId)
  const { record, unsealData } = unsealToken(keys, tenantId, row)
  const transform = decideTransform(grants, permission, record)
  if (!isThere || transform === undefined) {
    spendLookup(deps, caller, permission)
    throw absentToken()
  }
  return { row, record, unsealData, transform }
}

/**
 * @throws ApiError `not_found` when it is absent, expired, or not covered for that permission;
 *   `overloaded` where its data would take more room than there is; `too_many_requests` where the
 *   caller has looked for too many in vain
 */
export function loadToken(
  deps: Deps,
  caller: Caller & Housed,
  permission: TokenPermission,
  id: string,
): MaybeLater<LoadedToken> {
  return untilWhole(() =>
    andThen(loadWithoutCode(deps, caller, permission, id), token =>
      isCodeNeeded(permission, token) ? withCode(deps, caller.tenantId, token) : token,
    ),
  )
}

/** Nor is it where the data stays as it is, and its mask is known to show none of it. */
const isCodeNeeded = (permission: TokenPermission, { record, transform }: LoadedToken): boolean =>
  isCodeShown(transform, record) ||
  (record.code !== undefined && ['token:update', 'token:delete'].includes(permission))

function loadWithoutCode(
  deps: Deps,
  caller: Caller & Housed,
  permission: TokenPermission,
  id: string,
): MaybeLater<LoadedToken> {
  const { keys, store } = deps
  const nowMs = deps.now()
  const unique = tokenUnique(keys, caller.tenantId, id)
  const load = (found: Row | undefined): LoadedToken => {
    const token = judge(deps, caller, permission, found, nowMs)
    makeRoom(caller, [token.row])
    return token
  }
  assertLookupsLeft(deps, caller, permission)
  return andThen(store.glance(unique, verdictParts), glimpse => {
    if (glimpse === undefined || glimpse.parts.length === glimpse.partCount) return load(glimpse)
    judge(deps, caller, permission, glimpse, nowMs)
    return andThen(store.find(unique), load)
  })
}
