/**
 * Tables of `docs/expressions.md`, one for each group of the fixture.
 * @module
 */

export interface Example {
  readonly expression: string
  readonly data: unknown
  readonly output: unknown
}

export type Examples = Readonly<Record<string, readonly Example[]>>

/** A cell of code; an escaped bar does not end the cell. */
const cellOf = (text: string): string => `\`${text.replaceAll('|', '\\|')}\``

const tableOf = (rows: readonly Example[]): string =>
  [
    '| Expression | Data | Gives |',
    '|---|---|---|',
    ...rows.map(({ expression, data, output }) => {
      const cells = [expression, JSON.stringify(data), JSON.stringify(output)]
      return `| ${cells.map(cellOf).join(' | ')} |`
    }),
  ].join('\n')

/** A mark and the table below it. */
const place = /^<!-- (\w+) -->\n(?:\n(?:\|.*\n)+)?/gm

/** @throws Error for a mark without a group, and a group without a mark */
export function withTables(page: string, examples: Examples): string {
  const left = new Set(Object.keys(examples))
  const text = page.replace(place, (_, group: string) => {
    const rows = examples[group]
    if (rows === undefined || !left.delete(group)) throw new Error(`no examples of ${group}`)
    return `<!-- ${group} -->\n\n${tableOf(rows)}\n`
  })
  if (left.size > 0) throw new Error(`no place for examples of ${[...left].join(', ')}`)
  return text
}
