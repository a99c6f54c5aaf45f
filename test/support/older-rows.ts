/**
 * Rows as older versions wrote them: search values under one term, whatever the mask shows, nothing
 * kept of what it shows, and applications with one key.
 * @module
 */
import {
  applicationUnique,
  keyDigest,
  tenantTerm,
  typeTerm,
  type ApplicationRecord,
} from '../../src/applications/record.ts'
import { utf8 } from '../../src/bytes.ts'
import type { Deps } from '../../src/deps.ts'
import { sealRow } from '../../src/records/rows.ts'
import type { NewRow } from '../../src/store/contract.ts'
import {
  termsOf,
  tokenTerms,
  type TokenContents,
  type TokenRecord,
} from '../../src/tokens/record.ts'
import { tokenUnique } from '../../src/tokens/id.ts'

/** The whole record as JSON, also what its type says. */
export const printOlder = (record: TokenRecord): string =>
  JSON.stringify({
    i: record.id,
    r: record.idIsRandom,
    t: record.type,
    c: record.containers,
    f: record.fingerprint,
    e: record.fingerprintExpression,
    s: record.searchIndexes,
    m: record.maskText ?? null,
    k: record.maskedText,
    d: record.metadataText,
    b: record.createdBy,
    a: record.createdAtMs,
    B: record.modifiedBy,
    A: record.modifiedAtMs,
    x: record.expiresAt,
    u: record.deduplicates,
    h: record.hidesFingerprint,
  })

export function sealOlderToken(
  { keys, randomBytes }: Pick<Deps, 'keys' | 'randomBytes'>,
  tenantId: string,
  record: TokenRecord,
  contents: Pick<TokenContents, 'dataText' | 'metadata' | 'searchValues'>,
): NewRow {
  const { searchEither } = tokenTerms(keys, tenantId)
  const folded = new Set(contents.searchValues.map(value => value.toLowerCase()))
  const others = { metadata: contents.metadata, searchValues: [], isShownMasked: false }
  const header = {
    uniques: [tokenUnique(keys, tenantId, record.id)],
    terms: [...termsOf(keys, tenantId, record, others), ...[...folded].map(searchEither)],
  }
  const { maskedText: _, ...older } = record
  const values = [utf8(printOlder(older)), utf8(contents.dataText)]
  const sealer = { scope: keys.tenant(tenantId), collection: 'token' } as const
  return sealRow(sealer, randomBytes, header, 1, values)
}

/** An application whose record does not speak of keys: it has one. */
export function sealOlderApplication(
  { keys, randomBytes }: Pick<Deps, 'keys' | 'randomBytes'>,
  record: Omit<ApplicationRecord, 'keys'>,
  key: string,
): NewRow {
  const { id, tenantId, type } = record
  const header = {
    uniques: [applicationUnique(keys, tenantId, id), keyDigest(keys, key)],
    terms: [tenantTerm(keys, tenantId), typeTerm(keys, tenantId, type)],
  }
  const sealer = { scope: keys.installation, collection: 'application' } as const
  return sealRow(sealer, randomBytes, header, 1, [utf8(JSON.stringify(record))])
}
