/**
 * Entries of the audit log as bytes, within a sealed bundle.
 *
 * Layout: at u48 · result u16 · count u32 (1 if the entry has none) · the texts in the order of
 * `textNames` · number of ids u16 · each id · up to two texts, the later ones left out where they
 * are absent: the stated reason, and the searched fields with commas between. A text is one byte
 * and what it says: 0 the text is absent; 1 to 252 the length of an ASCII text; 253 a lower-case
 * UUID, 16 bytes; 254 its length in UTF-8 as u32, and then the text; 255 a text of no bytes.
 *
 * decision: loops over characters. The runtime's own functions took three times as long for texts
 * as short as these.
 * @module
 */
import {
  bufferOf,
  byteAt,
  readU16,
  readU32,
  readU48,
  u48Bytes,
  uuidText,
  writeU16,
  writeU32,
  writeU48,
} from '../lib/bytes.ts'

import { assertStored } from '../lib/errors.ts'
import { isAlike, type AuditEntry } from './entry.ts'

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
const dash = 0x2d
const dashesAt: ReadonlySet<number> = new Set([8, 13, 18, 23])
const resultAt = u48Bytes
const countAt = resultAt + 2
const textsAt = countAt + 4
const lengthBytes = 4

/** Most bytes of a text and of what stands before it. */
const roomOf = (text: string | undefined): number => 1 + lengthBytes + (text?.length ?? 0) * 3

/** Value of a lower-case hex digit; -1 for any other character. */
function nibbleOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1
}

/** @returns true if the text is a lower-case UUID, whose bytes are then written */
function writeUuid(target: Buffer, start: number, text: string): boolean {
  if (text.length !== uuidChars) return false
  let at = start
  let high = -1
  for (let i = 0; i < uuidChars; i += 1) {
    const code = text.charCodeAt(i)
    if (dashesAt.has(i)) {
      if (code !== dash) return false
      continue
    }
    const nibble = nibbleOf(code)
    if (nibble < 0) return false
    if (high < 0) high = nibble
    else {
      target[at] = (high << 4) | nibble
      at += 1
      high = -1
    }
  }
  return true
}

/** @returns its bytes; -1 if it has a character that is not ASCII */
function writeAscii(target: Buffer, at: number, text: string): number {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) return -1
    target[at + i] = code
  }
  return text.length
}

/** @returns where the next one begins */
function writeText(target: Buffer, at: number, text: string | undefined): number {
  if (text === undefined || text === '') {
    target[at] = text === undefined ? absent : emptyMark
    return at + 1
  }
  if (writeUuid(target, at + 1, text)) {
    target[at] = uuidMark
    return at + 1 + uuidBytes
  }
  const ascii = text.length <= shortMax ? writeAscii(target, at + 1, text) : -1
  if (ascii >= 0) {
    target[at] = ascii
    return at + 1 + ascii
  }
  target[at] = longMark
  const length = target.write(text, at + 1 + lengthBytes)
  writeU32(target, at + 1, length)
  return at + 1 + lengthBytes + length
}

/** Returns the texts behind the ids, up to the last one that is there. */
function lastTextsOf({ statedReason, searched }: AuditEntry): readonly (string | undefined)[] {
  if (searched !== undefined) return [statedReason, searched.join(',')]
  return statedReason === undefined ? [] : [statedReason]
}

/** Most bytes that an entry takes. */
export function entryRoom(entry: AuditEntry): number {
  let room = textsAt + 2
  for (const name of textNames) room += roomOf(entry[name])
  for (const id of entry.entityIds) room += roomOf(id)
  for (const text of lastTextsOf(entry)) room += roomOf(text)
  return room
}

const shapeNames = textNames.slice(0, textNames.indexOf('traceId'))

/** Writes an entry, for which `entryRoom` is there from `start` on. @returns its end */
type WriteEntry = (start: number, entry: AuditEntry) => number

/** A writer that copies from the entry before it whatever two entries have in common. */
export function makeEntryWriter(target: Buffer): WriteEntry {
  let before:
    { readonly entry: AuditEntry; readonly start: number; readonly end: number } | undefined
  return (start, entry) => {
    writeU48(target, start, entry.atMs)
    writeU16(target, start + resultAt, entry.result)
    writeU32(target, start + countAt, entry.count ?? 1)
    let at = start + textsAt
    if (before !== undefined && isAlike(entry, before.entry)) {
      target.copyWithin(at, before.start, before.end)
      at += before.end - before.start
    } else {
      for (const name of shapeNames) at = writeText(target, at, entry[name])
      before = { entry, start: start + textsAt, end: at }
    }
    at = writeText(target, at, entry.traceId)
    at = writeText(target, at, entry.from)
    writeU16(target, at, entry.entityIds.length)
    at += 2
    for (const id of entry.entityIds) at = writeText(target, at, id)
    for (const text of lastTextsOf(entry)) at = writeText(target, at, text)
    return at
  }
}

interface Cursor {
  readonly bytes: Buffer
  at: number
}

/** Moves a cursor over some bytes. @returns where they begin */
function passOver(cursor: Cursor, length: number): number {
  const start = cursor.at
  cursor.at += length
  assertStored(cursor.at <= cursor.bytes.length, 'an entry of the log as long as it says')
  return start
}

function readText(cursor: Cursor): string | undefined {
  const { bytes } = cursor
  const mark = byteAt(bytes, passOver(cursor, 1))
  if (mark === absent) return undefined
  if (mark === emptyMark) return ''
  if (mark === uuidMark) {
    const start = passOver(cursor, uuidBytes)
    return uuidText(bytes.toString('hex', start, cursor.at))
  }
  if (mark !== longMark) {
    const start = passOver(cursor, mark)
    return bytes.toString('latin1', start, cursor.at)
  }
  const start = passOver(cursor, readU32(bytes, passOver(cursor, lengthBytes)))
  return bytes.toString('utf8', start, cursor.at)
}

type Texts = { -readonly [Name in (typeof textNames)[number]]?: string | undefined }

function readTexts(cursor: Cursor): Texts {
  const texts: Texts = {}
  for (const name of textNames) {
    const text = readText(cursor)
    if (text !== undefined) texts[name] = text
  }
  return texts
}

function readIds(cursor: Cursor): readonly string[] {
  const ids: string[] = []
  const start = passOver(cursor, 2)
  for (let left = readU16(cursor.bytes, start); left > 0; left -= 1) {
    ids.push(readText(cursor) ?? '')
  }
  return ids
}

function passText(cursor: Cursor): void {
  const mark = byteAt(cursor.bytes, passOver(cursor, 1))
  if (mark === absent || mark === emptyMark) return
  if (mark === uuidMark) passOver(cursor, uuidBytes)
  else if (mark !== longMark) passOver(cursor, mark)
  else passOver(cursor, readU32(cursor.bytes, passOver(cursor, lengthBytes)))
}

/** An entry as its index sees it. */
export interface EntryOutline {
  readonly atMs: number
  /** Equal for entries that differ in instant, ids, last texts, trace and address alone. */
  readonly shape: string
  readonly entityIds: readonly string[]
}

/** Reads what differs from entry to entry: the rest would take most of the time of indexing. */
export function outlineEntry(stored: Uint8Array): EntryOutline {
  const bytes = bufferOf(stored)
  const cursor: Cursor = { bytes, at: 0 }
  passOver(cursor, textsAt)
  for (let i = 0; i < shapeNames.length; i += 1) passText(cursor)
  const shape = bytes.toString('latin1', resultAt, cursor.at)
  for (let i = shapeNames.length; i < textNames.length; i += 1) passText(cursor)
  return { atMs: readU48(bytes, 0), shape, entityIds: readIds(cursor) }
}

/** @throws ApiError `storage_corrupt` */
export function decodeEntry(stored: Uint8Array): AuditEntry {
  const bytes = bufferOf(stored)
  const cursor: Cursor = { bytes, at: 0 }
  passOver(cursor, textsAt)
  const texts = readTexts(cursor)
  const entityIds = readIds(cursor)
  const readLast = () => (cursor.at < bytes.length ? readText(cursor) : undefined)
  const [statedReason, searched] = [readLast(), readLast()]
  assertStored(cursor.at === bytes.length, 'an entry of the log and nothing behind it')
  const count = readU32(bytes, countAt)
  return {
    atMs: readU48(bytes, 0),
    ...(texts as Pick<AuditEntry, (typeof textNames)[number]>),
    entityIds,
    result: readU16(bytes, resultAt),
    ...(statedReason === undefined ? {} : { statedReason }),
    ...(searched === undefined ? {} : { searched: searched.split(',') }),
    ...(count === 1 ? {} : { count }),
  }
}
