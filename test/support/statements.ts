/**
 * Statements of the documents: table rows whose first cell is an id.
 * @module
 */
import { readPage } from './page.ts'

/** Cells of a table row; `\|` is a bar within one. */
const cellsOf = (line: string): readonly string[] =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

/** @param file from the root of the project */
export const readStatements = (file: string): readonly (readonly string[])[] =>
  readPage(file)
    .split('\n')
    .filter(line => /^\| [A-Z]\d+(?:\.\d+)? \|/.test(line))
    .map(cellsOf)
