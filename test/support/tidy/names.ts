/**
 * What names stand for. Source: docs/decisions.md, "House rules".
 * @module
 */
import ts from 'typescript'
import { placeOf, type Project, type Rule, type Source } from './project.ts'

type TypeDeclaration = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration

const isExportedType = (node: ts.Statement): node is TypeDeclaration & { name: ts.Identifier } =>
  (ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)) &&
  node.name !== undefined &&
  node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true

/**
 * The client is a package of its own, whose callers know the names of the interface; the types of
 * the interface, which are printed for it, are the server's.
 */
const programOf = ({ path }: Source): string | undefined =>
  /^src\/(client\/(interface\.ts)?)?/.exec(path)?.[0]

function checkTypes({ sources }: Project): string[] {
  const first = new Map<string, string>()
  return sources.flatMap(source => {
    const program = programOf(source)
    if (program === undefined) return []
    return source.ast.statements.filter(isExportedType).flatMap(node => {
      const key = program + node.name.text
      const other = first.get(key)
      first.set(key, other ?? source.path)
      return other === undefined
        ? []
        : [`${placeOf(source, node)}: ${node.name.text} is a type of ${other} as well`]
    })
  })
}

export const nameRules: readonly Rule[] = [
  { name: 'an exported type has a name of its own', check: checkTypes },
]
