/**
 * Tables for people: columns as wide as their widest text.
 * @module
 */
import { sayNow } from '../server/process/system.ts'

type TableRow = Readonly<Record<string, unknown>>

/** For example `1 token was`, `2 tokens were`. */
export const counted = (count: number, noun: string, verbs?: readonly [string, string]): string =>
  count === 1
    ? `1 ${noun}${verbs === undefined ? '' : ` ${verbs[0]}`}`
    : `${count} ${noun}s${verbs === undefined ? '' : ` ${verbs[1]}`}`

/** Prints columns of texts, each as wide as its widest. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const [first] = rows
  const widthOf = (at: number) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0)
  const widths = first?.map((_, at) => widthOf(at)) ?? []
  for (const row of rows)
    sayNow(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

/**
 * Replaces by a mark each character of a caller's text that could move the cursor, end the line or
 * change the order of letters (Unicode, general categories Cc, Cf, Cs, Zl and Zp).
 */
export const shown = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd')

/** Prints a text as it is, an instant in UTC as ISO 8601 writes it, and all else as JSON. */
export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  return value instanceof Date ? value.toISOString() : JSON.stringify(value)
}

const cellOf = (value: unknown): string =>
  value instanceof Date ? textOf(value) : String(value ?? '-')

export const tableOf = (items: readonly TableRow[], columns: readonly string[]): string[][] => [
  [...columns],
  ...items.map(item => columns.map(name => shown(cellOf(item[name])))),
]
