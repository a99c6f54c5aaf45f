/**
 * Guards on absent values: `??`, `||` for a value, `?.`, defaults, `??=`.
 * @module
 */
import ts from 'typescript'
import { isBinary, isValueLogic } from './conditions.ts'
import { makeGuard, reached, replaceNode, type Guard, type Visit } from './guard.ts'

const { SyntaxKind } = ts

const nullish: ReadonlySet<ts.SyntaxKind> = new Set([SyntaxKind.QuestionQuestionToken])

const isMissing = ['there', 'missing'] as const

const fallbackGuard = (visit: Visit, node: ts.BinaryExpression): Guard => {
  const left = node.left.getText(visit.source)
  const right = node.right.getText(visit.source)
  const isNullish = isBinary(node, nullish)
  return makeGuard(visit, node, {
    kind: isNullish ? 'missing' : 'truth',
    outcomes: isNullish ? isMissing : ['false', 'true'],
    mutants: [
      replaceNode(visit, node, 'never the fallback', `__count(${left})`),
      replaceNode(visit, node, 'always the fallback', `__count(((${left}), ${right}))`),
    ],
    probed: node.left,
  })
}

type Link = ts.PropertyAccessChain | ts.ElementAccessChain | ts.CallChain

const isAccess = (
  node: ts.Node,
): node is ts.PropertyAccessExpression | ts.ElementAccessExpression | ts.CallExpression =>
  ts.isPropertyAccessExpression(node) ||
  ts.isElementAccessExpression(node) ||
  ts.isCallExpression(node)

const isLink = (node: ts.Node): node is Link =>
  isAccess(node) && node.questionDotToken !== undefined

/** Returns the end of the whole chain that `?.` may stop. */
const chainOf = (node: ts.Node): ts.Node => {
  const { parent } = node
  return isAccess(parent) && parent.expression === node ? chainOf(parent) : node
}

const linkGuard = (visit: Visit, node: Link): Guard => {
  const { source } = visit
  const before = node.expression.getText(source)
  const after = source.text.slice(node.questionDotToken?.end ?? node.end, node.end)
  const dot = ts.isPropertyAccessExpression(node) ? '.' : ''
  return makeGuard(visit, node, {
    kind: 'missing',
    outcomes: isMissing,
    mutants: [
      replaceNode(visit, node, 'never stops', `__count(${before})${dot}${after}`),
      replaceNode(visit, chainOf(node), 'always stops', `__count(((${before}), undefined))`),
    ],
    probed: node.expression,
  })
}

const assignments: ReadonlySet<ts.SyntaxKind> = new Set([
  SyntaxKind.BarBarEqualsToken,
  SyntaxKind.AmpersandAmpersandEqualsToken,
  SyntaxKind.QuestionQuestionEqualsToken,
])

/** `a ||= b`: probes and mutates the evaluation of b. */
const assignmentGuard = (visit: Visit, node: ts.BinaryExpression): Guard => {
  const left = node.left.getText(visit.source)
  const right = node.right.getText(visit.source)
  return makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [
      replaceNode(visit, node, 'always assigned', `(${left} = __count(${right}))`),
      replaceNode(visit, node, 'never assigned', `__count(${left})`),
    ],
    probed: node.right,
  })
}

/** Returns the default of a parameter, or of a destructured part. */
const initializerOf = (node: ts.Node): ts.Expression | undefined =>
  ts.isParameter(node) || ts.isBindingElement(node) ? node.initializer : undefined

const defaultGuard = (visit: Visit, node: ts.Node, initializer: ts.Expression): Guard =>
  makeGuard(visit, node, {
    kind: 'reach',
    outcomes: reached,
    mutants: [replaceNode(visit, initializer, 'no default', 'undefined')],
    probed: initializer,
  })

export const findFallback = (visit: Visit, node: ts.Node): Guard | undefined => {
  if (isBinary(node, nullish) || isValueLogic(visit, node)) return fallbackGuard(visit, node)
  if (isLink(node)) return linkGuard(visit, node)
  if (isBinary(node, assignments)) return assignmentGuard(visit, node)
  const initializer = initializerOf(node)
  return initializer === undefined ? undefined : defaultGuard(visit, node, initializer)
}
