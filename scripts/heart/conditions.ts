/**
 * Guards that are conditions: tests of `if`, `?:` and loops, operands of `&&` and `||`,
 * comparisons, and boolean results of functions. `!` and brackets around one are no guards of their
 * own.
 * @module
 */
import ts from 'typescript'
import { makeGuard, replaceNode, type Guard, type Mutant, type Visit } from './guard.ts'

const { SyntaxKind } = ts

type Kinds = ReadonlySet<ts.SyntaxKind>

export const isBinary = (node: ts.Node, kinds: Kinds): node is ts.BinaryExpression =>
  ts.isBinaryExpression(node) && kinds.has(node.operatorToken.kind)

const boundaries: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [SyntaxKind.LessThanToken, '<='],
  [SyntaxKind.LessThanEqualsToken, '<'],
  [SyntaxKind.GreaterThanToken, '>='],
  [SyntaxKind.GreaterThanEqualsToken, '>'],
])

const comparisons: Kinds = new Set([
  ...boundaries.keys(),
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.InstanceOfKeyword,
  SyntaxKind.InKeyword,
])

const logical: Kinds = new Set([SyntaxKind.AmpersandAmpersandToken, SyntaxKind.BarBarToken])

const isNot = (node: ts.Node): boolean =>
  ts.isPrefixUnaryExpression(node) && node.operator === SyntaxKind.ExclamationToken

const isWrapper = (node: ts.Node): boolean => ts.isParenthesizedExpression(node) || isNot(node)

/** Returns the node with all brackets and `!` around it. */
const wrapped = (node: ts.Node): ts.Node => (isWrapper(node.parent) ? wrapped(node.parent) : node)

const isBoolean = ({ checker }: Visit, node: ts.Node): boolean => {
  const type = checker.getTypeAtLocation(node)
  const parts = type.isUnion() ? type.types : [type]
  return parts.every(part => (part.flags & ts.TypeFlags.BooleanLike) !== 0)
}

const isTest = (outer: ts.Node): boolean => {
  const { parent } = outer
  if (ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent)) {
    return parent.expression === outer
  }
  if (ts.isForStatement(parent) || ts.isConditionalExpression(parent)) {
    return parent.condition === outer
  }
  return false
}

/** Includes the body of an arrow function without a block. */
export const isReturned = (outer: ts.Node): boolean =>
  ts.isReturnStatement(outer.parent) ||
  (ts.isArrowFunction(outer.parent) && outer.parent.body === outer)

export const isConstant = (node: ts.Node): boolean =>
  node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword

/** True for `a || b` and `a && b` that are used for their value, not their truth. */
export const isValueLogic = (visit: Visit, node: ts.Node): node is ts.BinaryExpression =>
  isBinary(node, logical) && !isBoolean(visit, node) && !isTest(wrapped(node))

const isCondition = (visit: Visit, node: ts.Node): node is ts.Expression => {
  if (!ts.isExpression(node) || isWrapper(node) || isConstant(node)) return false
  const outer = wrapped(node)
  if (isTest(outer) || isBinary(node, comparisons)) return true
  if (!isBoolean(visit, node)) return false
  if (isBinary(node, logical)) {
    // `a && b && c` is one guard around three, not two.
    const { parent } = outer
    return !(isBinary(parent, logical) && parent.operatorToken.kind === node.operatorToken.kind)
  }
  return isReturned(outer) || isBinary(outer.parent, logical)
}

const quantifiers: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
])

/** Swaps `all.some(…)` and `all.every(…)`. */
function swapQuantifier(visit: Visit, node: ts.Expression): Mutant[] {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return []
  const { name } = node.expression
  const other = quantifiers.get(name.text)
  return other === undefined ? [] : [replaceNode(visit, name, `${other} for ${name.text}`, other)]
}

/** Mutants still compute the condition, for its side effects. `__count` ends loops. */
const listMutants = (visit: Visit, node: ts.Expression): Mutant[] => {
  const text = node.getText(visit.source)
  const outer = wrapped(node)
  const joins = isBinary(outer.parent, logical) ? outer.parent.operatorToken.kind : undefined
  const mutants = [replaceNode(visit, node, 'inverted', `__count(!(${text}))`)]
  // A true operand of `||`, or a false one of `&&`, decides the whole: that is mutated, too.
  const isNegated = isNot(node.parent) || isNot(outer)
  if (isNegated || joins !== SyntaxKind.BarBarToken) {
    mutants.push(replaceNode(visit, node, 'true', `__count(((${text}), true))`))
  }
  if (isNegated || joins !== SyntaxKind.AmpersandAmpersandToken) {
    mutants.push(replaceNode(visit, node, 'false', `__count(((${text}), false))`))
  }
  if (!ts.isBinaryExpression(node)) return [...mutants, ...swapQuantifier(visit, node)]
  const moved = boundaries.get(node.operatorToken.kind)
  if (moved !== undefined) {
    const [left, right] = [node.left.getText(visit.source), node.right.getText(visit.source)]
    const shifted = `${left} ${moved} ${right}`
    mutants.push(replaceNode(visit, node, `boundary ${moved}`, `__count(${shifted})`))
  }
  return mutants
}

export const findCondition = (visit: Visit, node: ts.Node): Guard | undefined =>
  isCondition(visit, node)
    ? makeGuard(visit, node, {
        kind: 'truth',
        outcomes: ['false', 'true'],
        mutants: listMutants(visit, node),
        probed: node,
      })
    : undefined
