/**
 * Finds the guards of a file in its syntax tree: conditions, fallbacks, and branches of statements,
 * which are `case`, `catch`, a `throw` not directly after an `if`, `return true` or `false`.
 *
 * The argument of `invariant` is no guard: only a bug can break it, so no test can.
 * @module
 */
import ts from 'typescript'
import { findCondition, isConstant, isReturned } from './conditions.ts'
import { findFallback } from './fallbacks.ts'
import { makeGuard, reached, replaceNode, type Guard, type Visit } from './guard.ts'

const clauseGuard = (visit: Visit, node: ts.CaseOrDefaultClause): Guard => {
  const start = node.getStart(visit.source)
  const end = node.statements.pos
  return makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [{ change: 'never taken', start, end, text: 'case Symbol():' }],
    probed: end,
  })
}

const catchGuard = (visit: Visit, node: ts.CatchClause): Guard => {
  const start = node.getStart(visit.source)
  const end = node.block.getStart(visit.source) + 1
  const name = node.variableDeclaration?.name.getText(visit.source) ?? 'thrown'
  const text = `catch (${name}) { throw ${name};`
  return makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [{ change: 'thrown on', start, end, text }],
    probed: end,
  })
}

const constantGuard = (visit: Visit, node: ts.Node): Guard =>
  makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [replaceNode(visit, node, 'inverted', `__count(!${node.getText(visit.source)})`)],
    probed: node,
  })

/** After an `if` without a block, the condition is the guard. */
const isLoneThrow = (node: ts.Node): boolean =>
  ts.isThrowStatement(node) && (ts.isBlock(node.parent) || ts.isCaseOrDefaultClause(node.parent))

const throwGuard = (visit: Visit, node: ts.Node): Guard =>
  makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [replaceNode(visit, node, 'not thrown', '')],
    probed: node.getStart(visit.source),
  })

const findBranch = (visit: Visit, node: ts.Node): Guard | undefined => {
  if (ts.isCaseClause(node) || ts.isDefaultClause(node)) return clauseGuard(visit, node)
  if (ts.isCatchClause(node)) return catchGuard(visit, node)
  if (isLoneThrow(node)) return throwGuard(visit, node)
  return isConstant(node) && isReturned(node) ? constantGuard(visit, node) : undefined
}

const isInvariant = ({ parent }: ts.Node): boolean =>
  ts.isCallExpression(parent) && parent.expression.getText() === 'invariant'

const listGuards = (visit: Visit): Guard[] => {
  const guards: Guard[] = []
  const walk = (node: ts.Node): void => {
    // Types decide nothing at run time.
    if (ts.isTypeNode(node) || isInvariant(node)) return
    const guard = findFallback(visit, node) ?? findBranch(visit, node) ?? findCondition(visit, node)
    if (guard !== undefined) guards.push(guard)
    ts.forEachChild(node, walk)
  }
  ts.forEachChild(visit.source, walk)
  return guards
}

const readOptions = (): ts.CompilerOptions => {
  const { config } = ts.readConfigFile('tsconfig.json', path => ts.sys.readFile(path))
  return ts.parseJsonConfigFileContent(config, ts.sys, '.').options
}

/**
 * @param paths  of the files, from the current folder, which is the root
 * @returns the guards of each file, outer ones before those inside
 */
export const findGuards = (
  paths: readonly string[],
  options = readOptions(),
): ReadonlyMap<string, readonly Guard[]> => {
  const program = ts.createProgram(paths, options)
  const checker = program.getTypeChecker()
  return new Map(
    paths.map(file => {
      const source = program.getSourceFile(file)
      if (source === undefined) throw new Error(`cannot read ${file}`)
      return [file, listGuards({ source, checker, file })]
    }),
  )
}
