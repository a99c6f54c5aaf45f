/**
 * CSV (RFC 4180): the ends of records, their fields, and the separator.
 *
 * A record ends at a line end outside of quotes. If its quotes are wrong, only its first line is
 * given up: a quote that is never closed takes no other row with it.
 * @module
 */
import { carriageReturn, endOfLine, lineEnd, type End, type FindEnd } from './records.ts'

const quote = 0x22
const openQuote = 'a quote is not closed'
const strayQuote = 'a quote is not closed, or something stands behind a closing one'

/** Ends a faulty record at its first line, wherever its quotes would end. */
function faulty(bytes: Uint8Array, from: number, isLast: boolean, fault: string): End | undefined {
  const end = endOfLine(bytes, from, isLast)
  return end === undefined ? undefined : { ...end, fault }
}

/** Finds the quote that closes a field. @returns -1 if none does yet */
function closingQuote(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(quote, from)
  while (at >= 0 && bytes[at + 1] === quote) at = bytes.indexOf(quote, at + 2)
  return at
}

/** Finds what follows a closing quote: a comma, a line end or the end; anything else is a fault. */
function behindQuote(bytes: Uint8Array, at: number, delimiter: number): number | undefined {
  const isLineEnd = bytes[at] === carriageReturn && bytes[at + 1] === lineEnd
  const next = isLineEnd ? at + 1 : at
  const isEnd =
    next >= bytes.length || (bytes[next] === carriageReturn && next + 1 === bytes.length)
  return isEnd || bytes[next] === delimiter || bytes[next] === lineEnd ? next : undefined
}

/** @param delimiter a byte */
const endOfCsv =
  (delimiter: number): FindEnd =>
  (bytes, from, isLast) => {
    let at = from
    while (at < bytes.length) {
      if (bytes[at] === quote) {
        const close = closingQuote(bytes, at + 1)
        if (close < 0) return isLast ? faulty(bytes, from, isLast, openQuote) : undefined
        // The next byte, a quote or a line end, may not be there yet.
        if (!isLast && close + 2 >= bytes.length) return undefined
        const next = behindQuote(bytes, close + 1, delimiter)
        if (next === undefined) return faulty(bytes, from, isLast, strayQuote)
        at = next
      }
      while (at < bytes.length && bytes[at] !== delimiter && bytes[at] !== lineEnd) at += 1
      if (bytes[at] === lineEnd) return { at: at + 1 }
      at += 1
    }
    return isLast ? { at: bytes.length } : undefined
  }

/** @param text a record whose quotes are right */
export function fieldsOf(text: string, delimiter: string): string[] {
  const fields: string[] = []
  let at = 0
  for (;;) {
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      while (text[close + 1] === '"') close = text.indexOf('"', close + 2)
      fields.push(text.slice(at + 1, close).replaceAll('""', '"'))
      at = close + 1
    } else {
      const next = text.indexOf(delimiter, at)
      const end = next < 0 ? text.length : next
      fields.push(text.slice(at, end))
      at = end
    }
    if (at >= text.length) return fields
    at += 1
  }
}

const delimiters = [',', ';', '\t', '|'] as const

/** Picks the separator that splits the header into the most columns. */
function delimiterOf(header: string): string {
  const counts = delimiters.map(each => fieldsOf(header, each).length)
  return delimiters[counts.indexOf(Math.max(...counts))] ?? ','
}

/** Prints a field, in quotes if needed (RFC 4180 section 2). */
const csvField = (text: string): string =>
  /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text

export const csvLine = (fields: readonly string[]): string => `${fields.map(csvField).join(',')}\n`

/** Reads one file once: its separator is known from its header on. */
export function makeCsvFile(given?: string) {
  let delimiter = given
  const findEnd: FindEnd = (bytes, from, isLast) => {
    const line = delimiter === undefined ? endOfLine(bytes, from, isLast) : undefined
    if (delimiter === undefined && line === undefined) return undefined
    const header = Buffer.from(bytes.subarray(from, line?.at ?? from))
      .toString()
      .trim()
    if (delimiter === undefined && header === '') return line
    delimiter ??= delimiterOf(header)
    return endOfCsv(delimiter.charCodeAt(0))(bytes, from, isLast)
  }
  return { findEnd, delimiter: (): string => delimiter ?? ',' }
}
