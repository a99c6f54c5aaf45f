/**
 * Reads bytes as a holder of the master key could: finds every row of a token in them, wherever it
 * lies and even if the engine has freed the place.
 * @module
 */
import type { Keys } from '../../src/crypto/keyring.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { unsealRow } from '../../src/records/seal-row.ts'
import { readClearHeader } from '../../src/store/core/row.ts'

/** A row begins with its format and the number of its parts: head, record, data. */
const beginning = Buffer.from([2, 3])
/** The checksum of the header comes between. */
const headerAt = 6
const dataValue = 1

function readParts(bytes: Buffer, from: number, count: number): Uint8Array[] {
  const parts: Uint8Array[] = []
  for (let at = from; parts.length < count;) {
    const length = bytes.readUInt32BE(at)
    parts.push(bytes.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return parts
}

export interface RawRow {
  /** The data of a token, as JSON. */
  readonly text: string
  /** Its ciphertext. */
  readonly sealed: Uint8Array
}

/** Returns `undefined` if the bytes are no row that opens. */
function openAt(bytes: Buffer, keys: Keys, tenantId: string): RawRow | undefined {
  try {
    const { clear } = readClearHeader(bytes, headerAt)
    const parts = readParts(bytes, headerAt + clear.length, beginning[1] ?? 0)
    const sealer = { scope: keys.tenant(tenantId), collection: 'token' } as const
    const text = unsealRow(sealer, { clear, parts }).text(dataValue)
    return { text, sealed: parts[dataValue + 1] ?? new Uint8Array() }
  } catch (error) {
    if (error instanceof ApiError || error instanceof RangeError) return undefined
    throw error
  }
}

/** Finds every row of a token in these bytes, at any place. */
export function openEveryRowIn(bytes: Buffer, keys: Keys, tenantId: string): RawRow[] {
  const found: RawRow[] = []
  for (let at = bytes.indexOf(beginning); at >= 0; at = bytes.indexOf(beginning, at + 1)) {
    const row = openAt(bytes.subarray(at), keys, tenantId)
    if (row !== undefined) found.push(row)
  }
  return found
}
