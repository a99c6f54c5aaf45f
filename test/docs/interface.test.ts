/**
 * The table of `docs/interface.md`: every row names a test that exists.
 * @module
 */
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')
const page = readFileSync(resolve(root, 'docs/interface.md'), 'utf8')

/** Cells of a table row; `\|` is a bar within one. */
const cellsOf = (line: string) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map(cell => cell.trim().replaceAll('\\|', '|'))

const rows = page
  .split('\n')
  .filter(line => line.startsWith('|') && !/^\|(-|.*\| Proof \|$)/.test(line))
  .map(cellsOf)

/** `file › test`, or `file › suite › test`, several of them apart by `<br>`. */
const proofsOf = (cell: string) =>
  cell.split('<br>').map(proof => {
    const [file = '', ...names] = proof.split(' › ').map(part => part.replaceAll('`', '').trim())
    return { file, names }
  })

const sources = new Map<string, string | undefined>()

function sourceOf(file: string): string | undefined {
  const path = resolve(root, 'test', file)
  if (!sources.has(file)) {
    sources.set(file, existsSync(path) ? readFileSync(path, 'utf8') : undefined)
  }
  return sources.get(file)
}

/** The name stands in the source as it is written there, also where a table fills it in. */
const isCalledBy = (source: string, name: string): boolean =>
  [`'${name}'`, `"${name}"`, `\`${name}\``].some(text =>
    source.split(text).some((before, index, parts) => {
      return index < parts.length - 1 && /\(\s*$/.test(before)
    }),
  )

function faultOf(statement: string, cell: string): string | undefined {
  for (const { file, names } of proofsOf(cell)) {
    const source = file.endsWith('.test.ts') ? sourceOf(file) : undefined
    if (source === undefined) return `${statement}: no such file: ${file}`
    const missing = names.find(name => !isCalledBy(source, name))
    if (names.length === 0 || missing !== undefined) {
      return `${statement}: no such test in ${file}: ${missing ?? ''}`
    }
  }
  return undefined
}

test('every row names a test that exists', () => {
  expect(rows.length).toBeGreaterThan(150)
  const faults = rows.flatMap(([statement = '', proof = '']) => faultOf(statement, proof) ?? [])
  expect(faults).toEqual([])
})

test('no statement stands twice', () => {
  const statements = rows.map(([statement = '']) => statement)
  const again = statements.filter((text, index) => statements.indexOf(text) !== index)
  expect(again).toEqual([])
})

test('a row without a proof, or with one that is not there, is found', () => {
  const own = 'docs/interface.test.ts'
  expect(faultOf('said', `\`${own} › no statement stands twice\``)).toBeUndefined()
  for (const cell of ['', own, `${own} › rows`, `${own} › absent`, 'docs/absent.test.ts › a']) {
    expect(faultOf('said', cell)).toStartWith('said: ')
  }
})
