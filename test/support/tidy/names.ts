/**
 * Rules for names. Source: docs/decisions.md, "House rules".
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

/** The client's types are printed from the interface, under the names that they have here. */
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

/** Names that tell a file's role in its folder. */
const namesOfFolders: readonly string[] = ['routes.ts', 'schema.ts', 'limits.ts', 'index.ts']

/** Separate programs: a name is used once in each, and once in the server. */
const programs = ['src/client/', 'src/elements/', 'src/console/app/', 'src/testing/']

function checkFileNames({ sources }: Project): string[] {
  const first = new Map<string, string>()
  const own = sources.map(({ path }) => path).filter(path => path.startsWith('src/'))
  return own.flatMap(path => {
    const name = path.slice(path.lastIndexOf('/') + 1)
    if (namesOfFolders.includes(name)) return []
    const key = `${programs.find(folder => path.startsWith(folder)) ?? ''}${name}`
    const other = first.get(key)
    first.set(key, other ?? path)
    return other === undefined ? [] : [`${path}: ${other} is called so as well`]
  })
}

export const nameRules: readonly Rule[] = [
  { name: 'a file has a name of its own', check: checkFileNames },
  { name: 'an exported type has a name of its own', check: checkTypes },
]
