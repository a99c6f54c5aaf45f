/**
 * Rows as older versions wrote them: search values under one term, whatever the mask shows.
 * @module
 */
import { utf8 } from '../../src/bytes.ts'
import type { Deps } from '../../src/deps.ts'
import { sealRow } from '../../src/records/sealed-row.ts'
import type { NewRow } from '../../src/store/contract.ts'
import { termsOf, tokenTerms, tokenUnique, type TokenContents } from '../../src/tokens/record.ts'
import { printStored, type TokenRecord } from '../../src/tokens/stored-form.ts'

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
  const values = [utf8(printStored(record)), utf8(contents.dataText)]
  const sealer = { scope: keys.tenant(tenantId), collection: 'token' } as const
  return sealRow(sealer, randomBytes, header, 1, values)
}
