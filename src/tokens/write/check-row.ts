/**
 * Whether a stored token is found by what it is: its row against its own record.
 *
 * The sealed parts authenticate the row as it was written, so this finds what was written wrong.
 * decision: search values are only counted. Their expressions may mean more in a later version, and
 * what an older one has found then stays as it was.
 * @module
 */
import { hexOf } from '../../bytes.ts'
import type { Keys } from '../../crypto/scope.ts'
import { isJsonObject } from '../../json/json.ts'
import { parseJson } from '../../json/parse.ts'
import type { Row } from '../../store/contract.ts'
import { dedupSeats } from './dedup.ts'
import { openToken, termsOf, tokenUnique } from '../record/record.ts'
import type { TokenRecord } from '../record/stored-form.ts'

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
 * Opens both parts of a token.
 * @throws ApiError `storage_corrupt` when they are not a token of that tenant
 */
export function isFoundByItsRecord(keys: Keys, tenantId: string, row: Row): boolean {
  const { record, openData } = openToken(keys, tenantId, row)
  openData()
  return (
    row.deadlineMs === record.expiresAt?.epochMs &&
    hasUniques(keys, tenantId, record, row) &&
    hasTerms(keys, tenantId, record, row)
  )
}
