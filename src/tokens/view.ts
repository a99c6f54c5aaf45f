/**
 * How a token looks to whoever asks: the one place where data leaves the vault.
 *
 * Source: spec, "Token object" and "Transforms"; contract section 1 (no null members).
 * @module
 */
import type { Keys } from '../crypto/scope.ts'
import type { Transform } from '../domain/access.ts'
import { printInstantUtc } from '../domain/instants.ts'
import { parseJson } from '../domain/json-parse.ts'
import { printJson } from '../domain/json-print.ts'
import { applyMask } from '../domain/mask.ts'
import { openData, type StoredToken, type TokenRecord } from './record.ts'

/** The text of `data` under a transform; `undefined` is redacted. Revealing never parses. */
function shownData(
  transform: Transform,
  maskText: string | undefined,
  dataText: () => string,
): string | undefined {
  if (transform === 'redact') return undefined
  if (transform === 'reveal') return dataText()
  if (maskText === undefined) return undefined
  const result = applyMask(parseJson(maskText), parseJson(dataText()))
  return result === undefined ? undefined : printJson(result.masked)
}

const quote = (text: string): string => JSON.stringify(text)

function printToken(record: TokenRecord, tenantId: string, data: string | undefined): string {
  let text = `{"id":${quote(record.id)},"tenant_id":"${tenantId}","type":"${record.type}"`
  if (data !== undefined) text += `,"data":${data}`
  if (record.maskText !== undefined) text += `,"mask":${record.maskText}`
  text += `,"fingerprint":"${record.fingerprint}","containers":${JSON.stringify(record.containers)}`
  if (record.metadataText !== undefined) text += `,"metadata":${record.metadataText}`
  text += `,"created_by":"${record.createdBy}"`
  text += `,"created_at":"${printInstantUtc(record.createdAtMs)}"`
  if (record.modifiedBy !== undefined) text += `,"modified_by":"${record.modifiedBy}"`
  if (record.modifiedAtMs !== undefined) {
    text += `,"modified_at":"${printInstantUtc(record.modifiedAtMs)}"`
  }
  text += `,"search_indexes":${JSON.stringify(record.searchIndexes)}`
  text += `,"fingerprint_expression":${quote(record.fingerprintExpression)}`
  if (record.expiresAt !== undefined) text += `,"expires_at":"${record.expiresAt.text}"`
  return text + '}'
}

/** JSON text of a token that was just made or changed; its data is still at hand. */
export const viewWritten = (
  record: TokenRecord,
  tenantId: string,
  transform: Transform,
  dataText: string,
): string =>
  printToken(
    record,
    tenantId,
    shownData(transform, record.maskText, () => dataText),
  )

/** JSON text of a stored token. Its data is opened only when the transform shows some of it. */
export const viewStored = (
  keys: Keys,
  tenantId: string,
  { row, record }: StoredToken,
  transform: Transform,
): string =>
  printToken(
    record,
    tenantId,
    shownData(transform, record.maskText, () => openData(keys, tenantId, row)),
  )
