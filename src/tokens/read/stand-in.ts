/**
 * What is opened in place of a token that is not there.
 *
 * An absent token then costs what one costs that the caller's rules do not cover: one look-up, one
 * opening, one decision (contract section 2). It has the size of a token of type `card_number`, and
 * is in no store. decision: a hidden token of much data is read for longer, and may be told by it.
 * @module
 */
import type { KeyScope } from '../../crypto/scope.ts'
import type { Deps } from '../../deps.ts'
import { inNoStore } from '../../records/sealed-row.ts'
import type { Row } from '../../store/contract.ts'
import { sealToken, type TokenContents } from '../record/record.ts'
import type { TokenRecord } from '../record/stored-form.ts'

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
export function standInOf(deps: Pick<Deps, 'keys' | 'randomBytes'>, tenantId: string): Row {
  const scope = deps.keys.tenant(tenantId)
  const known = standIns.get(scope)
  if (known !== undefined) return known
  const row = inNoStore(sealToken(deps, tenantId, record, contents, 1))
  standIns.set(scope, row)
  return row
}
