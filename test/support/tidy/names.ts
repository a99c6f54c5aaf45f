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

/** The types of the interface are printed for the client, under the names that they have here. */
const isPrinted = ({ path }: Source): boolean => path === 'src/client/interface.ts'

function checkTypes({ sources }: Project): string[] {
  const first = new Map<string, string>()
  const own = sources.filter(source => source.path.startsWith('src/') && !isPrinted(source))
  return own.flatMap(source =>
    source.ast.statements.filter(isExportedType).flatMap(node => {
      const { text } = node.name
      const other = first.get(text)
      first.set(text, other ?? source.path)
      return other === undefined
        ? []
        : [`${placeOf(source, node)}: ${text} is a type of ${other} as well`]
    }),
  )
}

export const nameRules: readonly Rule[] = [
  { name: 'an exported type has a name of its own', check: checkTypes },
]
