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
 * is in no store. decision: a hidden token of much data is read for longer, and may be told by it.
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
 * same work: the verdict comes last (contract section 2).
 */

export interface LoadedToken extends StoredToken {
  /** Of the rule or plain permission that covers the token. */
  readonly transform: Transform
}

export const absentToken = () =>
  new ApiError('not_found', 'There is no such token, or none that this key may see.')

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
  const { tenantId } = caller
  const nowMs = deps.now()
  assertLookupsLeft(deps, caller, permission)
  return andThen(store.find(tokenUnique(keys, tenantId, id)), found => {
    const isThere = found !== undefined && !isExpired(found, nowMs)
    const row = isThere ? found : standInOf(deps, tenantId)
    const { record, unsealData } = unsealToken(keys, tenantId, row)
    const transform = decideTransform(caller.grants, permission, record)
    if (!isThere || transform === undefined) {
      spendLookup(deps, caller, permission)
      throw absentToken()
    }
    makeRoom(caller, [row])
    return { row, record, unsealData, transform }
  })
}
