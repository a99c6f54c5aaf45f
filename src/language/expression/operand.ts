/**
 * Reads one operand of an expression: a path into the data, or a constant.
 *
 *     operand = string / number / "true" / "false" / "nil" / "null" / path
 *     path    = ( "data" / "metadata" ) *( "." name / "[" integer "]" / "[" string "]" )
 *
 * A name picks an own member and nothing else: Liquid's `.size`, `.first`, `.last` exist only as
 * filters, and computed keys in brackets do not exist. Source: contract section 6, hardening H94.
 * @module
 */
import { isDigitCode } from '../../lib/bytes.ts'
import type { Literal, Operand, PathStep, TemplateUse } from './tree.ts'
import {
  demand,
  numberFrom,
  sees,
  skipBlanks,
  take,
  takeQuoted,
  takeWhile,
  type Cursor,
} from './scan-expression.ts'

export interface Reader extends Cursor {
  readonly use: TemplateUse
}

/** Meanings of a backslash in a string. Any other escape is refused, so that none is misread. */
const escapes = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}

const constants: ReadonlyMap<string, Literal> = new Map([
  ['true', { kind: 'literal', value: true }],
  ['false', { kind: 'literal', value: false }],
  ['nil', { kind: 'literal', value: null }],
  ['null', { kind: 'literal', value: null }],
])

const isAsciiLetter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90)

/** Letters, digits, `_`, `-`, and anything beyond ASCII except controls and blanks. */
export const isNameCode = (code: number): boolean =>
  isAsciiLetter(code) ||
  isDigitCode(code) ||
  code === 95 ||
  code === 45 ||
  (code > 0x9f && String.fromCharCode(code).trim() !== '')

/** Reads a name, which may be empty. @throws ApiError when it ends in `-` */
export const readName = (reader: Reader): string => {
  const name = takeWhile(reader, isNameCode)
  if (name.endsWith('-')) {
    throw reader.refuse(reader.position - 1, 'whitespace control is not supported')
  }
  return name
}

/**
 * Reads one operand and the blanks before it. Only fingerprints may use `metadata`.
 * @throws ApiError with a position when there is none
 */
export const readOperand = (reader: Reader): Operand => {
  skipBlanks(reader)
  const start = reader.position
  if (sees(reader, "'") || sees(reader, '"')) {
    return { kind: 'literal', value: takeQuoted(reader, escapes) }
  }
  const isNumber = isDigitCode(reader.text.charCodeAt(start)) || sees(reader, '-')
  if (isNumber) return { kind: 'literal', value: readNumber(reader) }
  const name = readName(reader)
  const constant = constants.get(name)
  if (constant !== undefined) return constant
  if (name === 'data' || (name === 'metadata' && reader.use === 'fingerprint')) {
    return { kind: 'path', root: name, steps: readSteps(reader) }
  }
  const roots = reader.use === 'fingerprint' ? '`data`, `metadata`' : '`data`'
  throw reader.refuse(start, `expected ${roots}, a string, a number, true, false or nil`)
}

const readNumber = (reader: Reader): Literal['value'] => {
  const start = reader.position
  take(reader, '-')
  const whole = takeWhile(reader, isDigitCode)
  const fraction = take(reader, '.') ? takeWhile(reader, isDigitCode) : undefined
  const isValid = (whole === '0' || !whole.startsWith('0')) && whole !== '' && fraction !== ''
  const value = isValid ? numberFrom(reader.text.slice(start, reader.position)) : undefined
  if (value === undefined || isNameCode(reader.text.charCodeAt(reader.position))) {
    throw reader.refuse(start, 'expected a plain decimal number')
  }
  return value
}

const readSteps = (reader: Reader): PathStep[] => {
  const steps: PathStep[] = []
  for (;;) {
    if (take(reader, '.')) {
      const name = readName(reader)
      if (name === '') throw reader.refuse(reader.position, 'expected a member name')
      steps.push(name)
    } else if (take(reader, '[')) {
      steps.push(readBracketed(reader))
    } else {
      return steps
    }
  }
}

const readBracketed = (reader: Reader): PathStep => {
  skipBlanks(reader)
  const start = reader.position
  const operand = sees(reader, ']') ? undefined : readOperand(reader)
  skipBlanks(reader)
  demand(reader, ']', 'expected ]')
  const step = operand?.kind === 'literal' ? operand.value : undefined
  if (typeof step === 'string') return step
  if (typeof step === 'number' && Number.isSafeInteger(step)) return step
  throw reader.refuse(start, 'expected an integer or a string in brackets')
}
