/**
 * Bounds of functions, files and lines. Source: docs/decisions.md, "House rules".
 * @module
 */
import ts from 'typescript'
import { nodesOf, placeOf, type Project, type Rule, type Source } from './project.ts'

const functionLinesMax = 70
const functionLinesWanted = 40
const fileLinesMax = 400
const lineColumnsMax = 100

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n')

/** A callback of `describe` holds a suite, not a step of a program. */
function isSuite(node: ts.Node): boolean {
  const call = node.parent
  if (!ts.isCallExpression(call)) return false
  return /^describe(?:\.|$)/.test(call.expression.getText())
}

interface Measured {
  readonly place: string
  readonly lines: number
}

function measureFunctions(source: Source): Measured[] {
  const measured: Measured[] = []
  for (const node of nodesOf(source.ast)) {
    if (!ts.isFunctionLike(node) || !('body' in node) || isSuite(node)) continue
    const lines = linesOf(node.getText()).length
    measured.push({ place: placeOf(source, node), lines })
  }
  return measured
}

const checkFunctions = ({ sources }: Project): string[] =>
  sources
    .flatMap(measureFunctions)
    .filter(({ lines }) => lines > functionLinesMax)
    .map(({ place, lines }) => `${place}: function of ${lines} lines, at most ${functionLinesMax}`)

/** Functions that are longer than wanted but allowed, longest first. */
export const listLongFunctions = ({ sources }: Project): readonly string[] =>
  sources
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(measureFunctions)
    .filter(({ lines }) => lines > functionLinesWanted)
    .sort((a, b) => b.lines - a.lines)
    .map(({ place, lines }) => `${place} (${lines} lines)`)

/** Printed from the OpenAPI document: nobody writes it, and it grows with the interface. */
const printed = 'src/client/interface.ts'

const isProgram = (path: string): boolean =>
  path !== printed && /\.tsx?$|^scripts\/[^.]+$|^\.ci\/[^.]+$/.test(path)

const checkFiles = ({ files }: Project): string[] =>
  [...files]
    .filter(([path, text]) => isProgram(path) && linesOf(text).length > fileLinesMax)
    .map(([path, text]) => `${path}: ${linesOf(text).length} lines, at most ${fileLinesMax}`)

const checkLines = ({ files }: Project): string[] =>
  [...files]
    .filter(([path]) => isProgram(path))
    .flatMap(([path, text]) =>
      linesOf(text).flatMap((line, index) =>
        [...line].length > lineColumnsMax
          ? [`${path}:${index + 1}: ${[...line].length} columns, at most ${lineColumnsMax}`]
          : [],
      ),
    )

export const sizeRules: readonly Rule[] = [
  { name: 'functions are short', check: checkFunctions },
  { name: 'files are short', check: checkFiles },
  { name: 'lines are short', check: checkLines },
]
