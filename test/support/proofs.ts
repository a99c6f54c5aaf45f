/**
 * Tables of a document whose last column says by which tests a statement is shown: `file › test`,
 * or `file › suite › test`, several of them apart by `<br>`. Files stand below `test/`.
 * @module
 */
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

/** Cells of a table row; `\|` is a bar within one. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

/**
 * @param file from the root
 * @param column the name of the last column of the tables that count; rows of others are left out
 */
export function readRows(file: string, column = 'Proof'): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = []
  let isCounted = false
  for (const line of readFileSync(resolve(root, file), 'utf8').split('\n')) {
    if (!line.startsWith('|')) isCounted = false
    else if (line.endsWith(`| ${column} |`)) isCounted = true
    else if (isCounted && !/^\|\s*-/.test(line)) rows.push(cellsOf(line))
  }
  return rows
}

const sources = new Map<string, string | undefined>()

function sourceOf(file: string): string | undefined {
  const path = resolve(root, 'test', file)
  if (!sources.has(file)) {
    sources.set(file, existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  }
  return sources.get(file)
}

/** As the name of a test or suite, or as the first cell of a row that a table of tests is of. */
const isNamedIn = (source: string, name: string): boolean =>
  [`'${name}'`, `"${name}"`, `\`${name}\``].some(text =>
    source
      .split(text)
      .some((before, index, parts) => index < parts.length - 1 && /[([]\s*$/.test(before)),
  )

/** @returns what is wrong with the proof of a statement, if anything */
export function faultOf(statement: string, cell: string): string | undefined {
  for (const proof of cell.split('<br>')) {
    const [file = '', ...names] = proof.split(' › ').map(part => part.replaceAll('`', '').trim())
    const source = file.endsWith('.test.ts') ? sourceOf(file) : undefined
    if (source === undefined) return `${statement}: no such file: ${file}`
    const missing = names.find(name => !isNamedIn(source, name))
    if (names.length === 0 || missing !== undefined) {
      return `${statement}: no such test in ${file}: ${missing ?? ''}`
    }
  }
  return undefined
}

/** @returns what is wrong with the proofs of all rows, which stand in their last cells */
export const faultsOf = (rows: readonly (readonly string[])[]): readonly string[] =>
  rows.flatMap(cells => faultOf(cells[0] ?? '', cells.at(-1) ?? '') ?? [])
