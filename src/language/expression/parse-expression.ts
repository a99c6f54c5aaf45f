/**
 * Text to tree: the whole grammar of expressions, closed and written by hand.
 *
 *     template = *( text / output )          text holds no {{ }} {% or {#
 *     output   = "{{" operand [ ( "|" / "," ) filter *( "|" filter ) ] "}}"
 *     filter   = name [ ":" argument *( "," argument ) ]
 *     argument = operand / name ":" ( "true" / "false" )
 *
 * Published clients write a comma instead of the first bar. It counts as a bar: ignoring the
 * filters after it would show the bare value. After a filter a comma only separates its arguments.
 *
 * Omitted on purpose: tags, comments, whitespace control, ranges, operators. Filters and their
 * arguments are checked here, so that a stored expression can only fail on data.
 * Source: contract section 6, hardening H90 to H96.
 * @module
 */
import { invalid } from '../../lib/errors.ts'
import { expressionCharsMax, expressionFiltersMax } from '../../limits/limits.ts'
import type { FilterDefinition } from './filters/definition.ts'
import { expectedOneOf } from '../../lib/spelling.ts'
import { filterNames, findFilter } from './filters/filter-table.ts'
import { isNameCode, readName, readOperand, type Reader } from './operand.ts'
import { demand, sees, skipBlanks, take, takeWhile } from './scan-expression.ts'
import type { FilterCall, Flag, Operand, Output, Part, Template, TemplateUse } from './tree.ts'

/** Faults of literal text by their first two characters. */
const textFaults: ReadonlyMap<string, string> = new Map([
  ['{%', 'tags are not part of expressions'],
  ['{#', 'comments are not part of expressions'],
  ['}}', 'nothing is open here that could be closed'],
])

/**
 * Text that was meant as an output and would be shown literally: `{ data | last4 }` within a text,
 * or a whole text that is a word in braces.
 */
const singleBraces = /\{\s*(?:data|metadata)\b[^{}]*\}|^\s*\{\s*[A-Za-z_][^{}]*\}\s*$/

const assertNoSingleBraces = (reader: Reader, literal: string): void => {
  const index = literal.search(singleBraces)
  if (index < 0) return
  const start = reader.position - literal.length
  throw reader.refuse(
    start + literal.indexOf('{', index),
    'expected {{ and }} around an expression, not { and }',
  )
}

/**
 * Parses one expression.
 * @param text  at most 400 characters (UTF-16 units)
 * @param at    field path for errors: `mask`, `search_indexes[0]`
 * @param use   `metadata` is for fingerprints, filters that draw at random are for ids
 * @throws ApiError `invalid_request` with a position; never echoes the text
 */
export const parseTemplate = (text: string, at: string, use: TemplateUse): Template => {
  if (text.length > expressionCharsMax) {
    throw invalid(at, `expected at most ${expressionCharsMax} characters, got ${text.length}`)
  }
  if (!text.isWellFormed()) throw invalid(at, 'expected well-formed Unicode')
  const refuse: Reader['refuse'] = (position, expected) =>
    invalid(at, `position ${position}: ${expected}`)
  const reader: Reader = { text, position: 0, use, refuse }
  const parts: Part[] = []
  while (reader.position < text.length) {
    const literal = readText(reader)
    assertNoSingleBraces(reader, literal)
    if (literal !== '') parts.push(literal)
    if (take(reader, '{{')) parts.push(readOutput(reader))
  }
  return parts
}

const readText = (reader: Reader): string => {
  const start = reader.position
  while (reader.position < reader.text.length && !sees(reader, '{{')) {
    const fault = textFaults.get(reader.text.slice(reader.position, reader.position + 2))
    if (fault !== undefined) throw reader.refuse(reader.position, fault)
    reader.position += 1
  }
  return reader.text.slice(start, reader.position)
}

const readOutput = (reader: Reader): Output => {
  if (sees(reader, '-')) throw reader.refuse(reader.position, 'whitespace control is not supported')
  const source = readOperand(reader)
  const filters: FilterCall[] = []
  let bytesOpen = false
  for (;;) {
    skipBlanks(reader)
    if (take(reader, '}}')) break
    const isFirst = filters.length === 0
    if (!isFirst || !take(reader, ',')) demand(reader, '|', 'expected | or }}')
    if (filters.length === expressionFiltersMax) {
      throw reader.refuse(reader.position, `expected at most ${expressionFiltersMax} filters`)
    }
    const start = reader.position
    const { call, definition } = readFilter(reader)
    if (bytesOpen && definition.bytes !== 'taken') {
      throw reader.refuse(start, 'bytes can only go into to_base64 or to_base16')
    }
    bytesOpen = definition.bytes === 'given'
    filters.push(call)
  }
  if (bytesOpen) throw reader.refuse(reader.position, 'bytes must go into to_base64 or to_base16')
  return { source, filters }
}

const readFilter = (reader: Reader): { call: FilterCall; definition: FilterDefinition } => {
  skipBlanks(reader)
  const start = reader.position
  const name = readName(reader)
  const definition = findFilter(name)
  if (definition === undefined)
    throw reader.refuse(start, `unknown filter: ${expectedOneOf(name, filterNames)}`)
  if (definition.random === true && reader.use !== 'id') {
    throw reader.refuse(start, 'a filter that draws at random is for ids only')
  }
  skipBlanks(reader)
  const operands: Operand[] = []
  const flags: Flag[] = []
  if (take(reader, ':')) {
    do readArgument(reader, definition, operands, flags)
    while (take(reader, ','))
  }
  if (operands.length < definition.required.length) {
    throw reader.refuse(start, `expected at least ${definition.required.length} argument(s)`)
  }
  return { call: { name, operands, flags }, definition }
}

/** Reads one argument and the blanks around it, and checks it against the filter's rule. */
const readArgument = (
  reader: Reader,
  definition: FilterDefinition,
  operands: Operand[],
  flags: Flag[],
): void => {
  skipBlanks(reader)
  const start = reader.position
  const flag = readFlag(reader, definition)
  if (flag === undefined) {
    const rules = [...definition.required, ...(definition.optional ?? [])]
    const rule = rules[operands.length]
    if (rule === undefined) throw reader.refuse(start, 'expected fewer arguments')
    const operand = readOperand(reader)
    const fault = rule(operand)
    if (fault !== undefined) throw reader.refuse(start, fault)
    operands.push(operand)
  } else {
    if (flags.length > 0) throw reader.refuse(start, 'expected this argument once')
    flags.push(flag)
  }
  skipBlanks(reader)
}

/** Reads a keyword argument; if there is none, returns undefined and restores the cursor. */
const readFlag = (reader: Reader, definition: FilterDefinition): Flag | undefined => {
  const start = reader.position
  const name = takeWhile(reader, isNameCode)
  skipBlanks(reader)
  if (name === '' || !take(reader, ':')) {
    reader.position = start
    return undefined
  }
  if (definition.flag !== name) throw reader.refuse(start, 'expected no keyword argument here')
  const operand = readOperand(reader)
  if (operand.kind !== 'literal' || typeof operand.value !== 'boolean') {
    throw reader.refuse(start, 'expected true or false behind the keyword')
  }
  return { name, value: operand.value }
}
