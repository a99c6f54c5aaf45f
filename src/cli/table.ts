/**
 * Tables for people: columns as wide as their widest text.
 * @module
 */
import { tableCharsHeld, tableRowsHeld } from '../limits/operation-limits.ts'
import { sayNow } from '../server/process/system.ts'

type TableRow = Readonly<Record<string, unknown>>

/** For example `1 token was`, `2 tokens were`. */
export const counted = (count: number, noun: string, verbs?: readonly [string, string]): string =>
  count === 1
    ? `1 ${noun}${verbs === undefined ? '' : ` ${verbs[0]}`}`
    : `${count} ${noun}s${verbs === undefined ? '' : ` ${verbs[1]}`}`

/**
 * Prints columns of texts, each as wide as its widest.
 * @param before widths of the rows above
 * @returns the widths
 */
export function printTable(
  rows: readonly (readonly string[])[],
  before: readonly number[] = [],
): readonly number[] {
  const [first] = rows
  const widthOf = (at: number) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), before[at] ?? 0)
  const widths = first?.map((_, at) => widthOf(at)) ?? []
  for (const row of rows)
    sayNow(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  return widths
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

/** A table of any length, printed in stretches, so that it is never held as a whole. */
export function makeLongTable(columns: readonly string[]) {
  let rows: (readonly string[])[] = [columns]
  let widths: readonly number[] = []
  let chars = 0
  const end = (): void => {
    if (rows.length > 0) widths = printTable(rows, widths)
    rows = []
    chars = 0
  }
  return {
    add(item: TableRow): void {
      const cells = columns.map(name => shown(cellOf(item[name])))
      rows.push(cells)
      chars += cells.reduce((sum, cell) => sum + cell.length, 0)
      if (rows.length > tableRowsHeld || chars > tableCharsHeld) end()
    },
    end,
  }
}
