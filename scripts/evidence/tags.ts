/**
 * Tags of tests: `// proves H126, S12` right above a test, a suite, or a row of a table of tests,
 * on one or several lines. Each names statements of the documents that the test proves.
 * @module
 */
import ts from 'typescript'

/** One tagged test. */
interface Proof {
  readonly ids: readonly string[]
  /** Suites from outside to inside, then the test or the row, as spelled in the source. */
  readonly names: readonly string[]
}

interface Tags {
  readonly proofs: readonly Proof[]
  /** Line numbers of tags that are above nothing with a name. */
  readonly astray: readonly number[]
}

const tagLine = /^[ \t]*\/\/ proves (.*)$/gm

/** As spelled in the source, so that a search finds the test. */
const nameOf = (node: ts.Node | undefined): string | undefined =>
  node && (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node))
    ? node.getText().slice(1, -1)
    : undefined

const firstName = (node: ts.Node): string | undefined => {
  if (ts.isCallExpression(node)) return nameOf(node.arguments[0])
  return ts.isArrayLiteralExpression(node) ? nameOf(node.elements[0]) : nameOf(node)
}

const callOf = (node: ts.Node): ts.Node => (ts.isExpressionStatement(node) ? node.expression : node)

/** Names of the calls around a node, without the one that holds its table. */
function suitesOf(node: ts.Node): readonly string[] {
  const names: string[] = []
  for (let child = node; child.parent !== undefined; child = child.parent) {
    const { parent } = child
    const isInside = ts.isCallExpression(parent) && parent.expression !== child
    const name = isInside ? firstName(parent) : undefined
    if (name !== undefined) names.unshift(name)
  }
  return names
}

/** Finds the first use of a table by its name: its rows are tests of the suites around that. */
function useOf(table: string, source: ts.SourceFile): ts.Node | undefined {
  const find = (node: ts.Node): ts.Node | undefined => {
    const isDeclared = ts.isVariableDeclaration(node.parent) && node.parent.name === node
    if (ts.isIdentifier(node) && node.text === table && !isDeclared) return node
    return ts.forEachChild(node, find)
  }
  return ts.forEachChild(source, find)
}

function placeOf(node: ts.Node, source: ts.SourceFile): ts.Node {
  for (let { parent } = node; parent !== undefined; parent = parent.parent) {
    if (ts.isCallExpression(parent)) return node
    if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) {
      return useOf(parent.name.text, source) ?? node
    }
  }
  return node
}

/** Position of each tag above a node, with its ids. */
const tagsAbove = (text: string, node: ts.Node): readonly (readonly [number, string[]])[] =>
  (ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []).flatMap(({ pos, end }) => {
    const ids = /^\/\/ proves (.*)$/.exec(text.slice(pos, end))?.[1]
    return ids === undefined ? [] : [[pos, ids.split(',').map(id => id.trim())] as const]
  })

export function readTags(path: string, text: string): Tags {
  const tags = [...text.matchAll(tagLine)].map(({ index, 0: line }) => index + line.indexOf('//'))
  if (tags.length === 0) return { proofs: [], astray: [] }
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true)
  const seen = new Set<number>()
  const proofs: Proof[] = []
  const visit = (node: ts.Node): void => {
    const above = tagsAbove(text, node).filter(([pos]) => !seen.has(pos))
    const name = firstName(callOf(node))
    if (above.length > 0 && name !== undefined) {
      for (const [pos] of above) seen.add(pos)
      const suites = suitesOf(placeOf(node, source))
      proofs.push({ ids: above.flatMap(([, ids]) => ids), names: [...suites, name] })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  const lineOf = (pos: number): number => source.getLineAndCharacterOfPosition(pos).line + 1
  return { proofs, astray: tags.filter(pos => !seen.has(pos)).map(lineOf) }
}
