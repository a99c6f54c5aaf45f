/**
 * Prints a template tree. Law: parsing the printed text gives the same tree.
 *
 * The text may differ from the original: spacing, quotes and the form of a path step are chosen
 * here. Stored expressions are returned as they came and never printed.
 * @module
 */
import { numberTextOf } from '../../src/language/expression/numbers.ts'
import { isNameCode } from '../../src/language/expression/operand.ts'
import type {
  FilterCall,
  Operand,
  Output,
  PathStep,
  LiteralValue,
  Template,
} from '../../src/language/expression/tree.ts'

/** Escapes what a string must not hold bare; all else, even a line feed, stays as it is. */
const printString = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

const printScalar = (value: LiteralValue): string => {
  if (value === null) return 'nil'
  if (typeof value === 'string') return printString(value)
  return typeof value === 'boolean' ? String(value) : numberTextOf(value)
}

/** A member name that may follow a dot; a last `-` would read as whitespace control. */
const isPlainName = (name: string): boolean =>
  name !== '' && !name.endsWith('-') && [...name].every(char => isNameCode(char.charCodeAt(0)))

const printStep = (step: PathStep): string => {
  if (typeof step === 'number') return `[${step}]`
  return isPlainName(step) ? `.${step}` : `[${printString(step)}]`
}

const printOperand = (operand: Operand): string =>
  operand.kind === 'literal'
    ? printScalar(operand.value)
    : operand.root + operand.steps.map(printStep).join('')

const printFilter = ({ name, operands, flags }: FilterCall): string => {
  const printed = operands.map(printOperand)
  for (const flag of flags) printed.push(`${flag.name}: ${flag.value}`)
  return printed.length === 0 ? name : `${name}: ${printed.join(', ')}`
}

const printOutput = ({ source, filters }: Output): string =>
  `{{ ${[printOperand(source), ...filters.map(printFilter)].join(' | ')} }}`

/** Prints a tree of `parseTemplate`. */
export const printTemplate = (template: Template): string =>
  template.map(part => (typeof part === 'string' ? part : printOutput(part))).join('')
