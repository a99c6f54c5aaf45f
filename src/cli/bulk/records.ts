/**
 * Records of a file that is read once and never held: lines, or as a format defines them.
 * @module
 */
import { importRecordBytesMax } from '../../limits/operation-limits.ts'

export const lineEnd = 0x0a
export const carriageReturn = 0x0d

export interface TextRecord {
  /** Line of its beginning, from 1 on. */
  readonly line: number
  /** Offset at which the next one begins. */
  readonly end: number
  /** Without its line end. */
  readonly bytes: Uint8Array
  /** Reason why it cannot be read. */
  readonly fault?: string
}

/** Finds the end of a record, after its line end; `undefined` if the bytes do not show it yet. */
export type FindEnd = (bytes: Uint8Array, from: number, isLast: boolean) => End | undefined

export interface End {
  readonly at: number
  readonly fault?: string
}

/** Ends each record at a line end, whatever the line holds. */
export const endOfLine: FindEnd = (bytes, from, isLast) => {
  const at = bytes.indexOf(lineEnd, from)
  if (at >= 0) return { at: at + 1 }
  return isLast ? { at: bytes.length } : undefined
}

function withoutLineEnd(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  if (bytes[end - 1] === lineEnd) end -= 1
  if (bytes[end - 1] === carriageReturn) end -= 1
  return bytes.subarray(0, end)
}

function countLines(bytes: Uint8Array): number {
  let count = 0
  for (let at = bytes.indexOf(lineEnd); at >= 0; at = bytes.indexOf(lineEnd, at + 1)) count += 1
  return count
}

export interface RecordOptions {
  readonly findEnd: FindEnd
  /** Gets each byte once, in order, before the record that it belongs to is read. */
  readonly heard: (bytes: Uint8Array) => void
}

interface Reading {
  rest: Uint8Array
  offset: number
  line: number
  /** A record that is too long: it goes on to the next line end, however the bytes come. */
  long: Omit<TextRecord, 'end'> | undefined
}

function* takeRecords(
  reading: Reading,
  { findEnd, heard }: RecordOptions,
  isLast: boolean,
): Generator<TextRecord, void> {
  let from = 0
  const { rest } = reading
  while (from < rest.length) {
    const find = reading.long === undefined ? findEnd : endOfLine
    let end = find(rest, from, isLast)
    const isLong = (end?.at ?? rest.length) - from > importRecordBytesMax
    if (end === undefined && !isLong) break
    if (isLong && end?.fault === undefined) {
      const fault = `it is longer than ${importRecordBytesMax} bytes, or a quote is not closed`
      end = { at: endOfLine(rest, from, true)?.at ?? rest.length, fault }
    }
    if (end === undefined) break
    const bytes = rest.subarray(from, end.at)
    const { line, long } = reading
    heard(bytes)
    reading.offset += bytes.length
    reading.line += countLines(bytes)
    from = end.at
    const fault = end.fault === undefined ? {} : { fault: end.fault }
    const record = long ?? { line, bytes: withoutLineEnd(bytes), ...fault }
    const isWhole = bytes.at(-1) === lineEnd || isLast
    reading.long = isWhole ? undefined : record
    if (isWhole) yield { ...record, end: reading.offset }
  }
  reading.rest = rest.subarray(from)
}

/** Yields blank ones as well. @param chunks without a byte order mark */
export async function* recordsOf(
  chunks: AsyncIterable<Uint8Array>,
  options: RecordOptions,
): AsyncGenerator<TextRecord, void> {
  const reading: Reading = { rest: new Uint8Array(), offset: 0, line: 1, long: undefined }
  for await (const chunk of chunks) {
    reading.rest = Buffer.concat([reading.rest, chunk])
    yield* takeRecords(reading, options, false)
  }
  yield* takeRecords(reading, options, true)
  if (reading.long !== undefined) yield { ...reading.long, end: reading.offset }
}
