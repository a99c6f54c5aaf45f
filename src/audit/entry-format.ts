/**
 * Entries of the audit log as bytes, within a sealed bundle.
 *
 * Layout: at u48 · result u16 · count u32 (1 if the entry has none) · the texts in the order of
 * `textNames` · number of ids u16 · each id. A text is one byte and what it says: 0 the text is
 * absent; 1 to 252 its length in UTF-8, less 1; 253 a lower-case UUID, 16 bytes; 254 its length u32
 * and then the text; 255 a text of no bytes.
 * @module
 */
import {
  byteAt,
  hexOf,
  readU16,
  readU32,
  readU48,
  u48Bytes,
  utf8Text,
  uuidBytesOf,
  uuidText,
  writeU16,
  writeU32,
  writeU48,
} from '../lib/bytes.ts'

import { assertStored } from '../lib/errors.ts'
import type { AuditEntry } from './entry.ts'

const textNames = [
  'tenantId',
  'actorId',
  'actorType',
  'keyId',
  'sessionId',
  'operation',
  'entityType',
  'transform',
  'rule',
  'reason',
  'traceId',
  'from',
] as const

const absent = 0
const shortMax = 252
const uuidMark = 253
const longMark = 254
const emptyMark = 255
const uuidBytes = 16
const uuidChars = 36
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const resultAt = u48Bytes
const countAt = resultAt + 2
const textsAt = countAt + 4
const lengthBytes = 4

/** Most bytes of a text and of what stands before it. */
const roomOf = (text: string | undefined): number => 1 + lengthBytes + (text?.length ?? 0) * 3

/** @returns where the next one begins */
function writeText(target: Buffer, at: number, text: string | undefined): number {
  if (text === undefined || text === '') {
    target[at] = text === undefined ? absent : emptyMark
    return at + 1
  }
  if (text.length === uuidChars && uuidShape.test(text)) {
    target[at] = uuidMark
    target.set(uuidBytesOf(text), at + 1)
    return at + 1 + uuidBytes
  }
  const length = Buffer.byteLength(text)
  const isShort = length <= shortMax
  target[at] = isShort ? length : longMark
  if (!isShort) writeU32(target, at + 1, length)
  const start = at + 1 + (isShort ? 0 : lengthBytes)
  target.write(text, start)
  return start + length
}

export function encodeEntry(entry: AuditEntry): Uint8Array {
  const texts = [...textNames.map(name => entry[name]), ...entry.entityIds]
  const room = texts.reduce((bytes, text) => bytes + roomOf(text), textsAt + 2)
  const bytes = Buffer.allocUnsafe(room)
  writeU48(bytes, 0, entry.atMs)
  writeU16(bytes, resultAt, entry.result)
  writeU32(bytes, countAt, entry.count ?? 1)
  let at = textsAt
  for (const name of textNames) at = writeText(bytes, at, entry[name])
  writeU16(bytes, at, entry.entityIds.length)
  at += 2
  for (const id of entry.entityIds) at = writeText(bytes, at, id)
  return bytes.subarray(0, at)
}

interface Cursor {
  readonly bytes: Uint8Array
  at: number
}

function take(cursor: Cursor, length: number): Uint8Array {
  const end = cursor.at + length
  assertStored(end <= cursor.bytes.length, 'an entry of the log as long as it says')
  const taken = cursor.bytes.subarray(cursor.at, end)
  cursor.at = end
  return taken
}

function readText(cursor: Cursor): string | undefined {
  const mark = byteAt(take(cursor, 1), 0)
  if (mark === absent) return undefined
  if (mark === emptyMark) return ''
  if (mark === uuidMark) return uuidText(hexOf(take(cursor, uuidBytes)))
  const length = mark === longMark ? readU32(take(cursor, lengthBytes), 0) : mark
  return utf8Text(take(cursor, length))
}

/** @throws ApiError `storage_corrupt` */
export function decodeEntry(bytes: Uint8Array): AuditEntry {
  const cursor: Cursor = { bytes, at: 0 }
  const head = take(cursor, textsAt)
  const texts = Object.fromEntries(
    textNames.flatMap(name => {
      const text = readText(cursor)
      return text === undefined ? [] : [[name, text]]
    }),
  ) as Pick<AuditEntry, (typeof textNames)[number]>
  const ids = readU16(take(cursor, 2), 0)
  const entityIds = Array.from({ length: ids }, () => readText(cursor) ?? '')
  assertStored(cursor.at === bytes.length, 'an entry of the log and nothing behind it')
  const count = readU32(head, countAt)
  return {
    atMs: readU48(head, 0),
    ...texts,
    entityIds,
    result: readU16(head, resultAt),
    ...(count === 1 ? {} : { count }),
  }
}
