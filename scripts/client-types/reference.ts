/**
 * Prints the client's reference page from the comments above each public name in its source.
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import ts from 'typescript'

const source = resolve(import.meta.dir, '../../src/client')

type Declared = ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration
type Public = Declared | ts.FunctionDeclaration | ts.VariableStatement

const fileOf = (name: string): ts.SourceFile =>
  ts.createSourceFile(name, readFileSync(join(source, name), 'utf8'), ts.ScriptTarget.ESNext, true)

const files: readonly ts.SourceFile[] = readdirSync(source)
  .filter(name => name.endsWith('.ts'))
  .map(fileOf)

function nameOf(node: ts.Node): string | undefined {
  if (ts.isVariableStatement(node)) return node.declarationList.declarations[0]?.name.getText()
  const { name } = node as { readonly name?: ts.Node }
  return name?.getText()
}

/** All declarations by name; those of the entry files come last, as they are the public ones. */
const declared = new Map<string, Public>(
  files.flatMap(file =>
    file.statements.flatMap(node => {
      const name = nameOf(node)
      const isPublic =
        ts.isInterfaceDeclaration(node) ||
        ts.isTypeAliasDeclaration(node) ||
        ts.isClassDeclaration(node) ||
        ts.isFunctionDeclaration(node) ||
        ts.isVariableStatement(node)
      // A document type that the client declares better is not public.
      const isTold = basename(file.fileName) === 'interface.ts' && name === 'Token'
      return isPublic && name !== undefined && !isTold ? [[name, node] as const] : []
    }),
  ),
)

/** Names that a file exports, as written there; types of the document are marked. */
function exportsOf(name: string): readonly string[] {
  return fileOf(name).statements.flatMap(node => {
    if (ts.isExportDeclaration(node)) {
      const { exportClause } = node
      if (exportClause === undefined || !ts.isNamedExports(exportClause)) return []
      return exportClause.elements.map(element => element.name.text)
    }
    const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : []
    const isExported = modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    const own = nameOf(node)
    return isExported && own !== undefined ? [own] : []
  })
}

/** Names that a program may import, apart from the shapes of the document. */
export const publicNames: readonly string[] = [...exportsOf('index.ts'), ...exportsOf('socket.ts')]

interface Doc {
  readonly text: string
  readonly tags: readonly (readonly [name: string, text: string])[]
}

export function docOf(node: ts.Node): Doc {
  const [doc] = ts.getJSDocCommentsAndTags(node).filter(ts.isJSDoc)
  const tags = (doc?.tags ?? []).map(tag => {
    const comment = ts.getTextOfJSDocComment(tag.comment) ?? ''
    const names = ts.isJSDocParameterTag(tag) ? tag.name.getText() : ''
    return [tag.tagName.text, `${names} ${comment}`.trim()] as const
  })
  return { text: ts.getTextOfJSDocComment(doc?.comment) ?? '', tags }
}

/** Returns the visible members of a class or an interface. */
export function membersOf(node: Public): readonly (ts.TypeElement | ts.ClassElement)[] {
  if (ts.isInterfaceDeclaration(node)) return [...node.members]
  if (!ts.isClassDeclaration(node)) return []
  return node.members.filter(ts.isPropertyDeclaration)
}

export const declarationOf = (name: string): Public => {
  const node = declared.get(name)
  if (node === undefined) throw new Error(`the client exports ${name}, which it does not declare`)
  return node
}

const fence = (code: string): string => `\`\`\`ts\n${code}\n\`\`\`\n`

const titles: Readonly<Record<string, string>> = { throws: 'Throws', returns: 'Gives' }

function printDoc({ text, tags }: Doc): string {
  const told = tags.flatMap(([name, said]) => {
    const line = said.replaceAll(/\s*\n\s*/g, ' ')
    if (name === 'param' || name === 'typeParam') {
      const [what = '', ...rest] = line.split(' ')
      return [`- \`${what}\`: ${rest.join(' ').trim()}`]
    }
    return name in titles ? [`- ${titles[name]}: ${line}`] : []
  })
  const examples = tags.filter(([name]) => name === 'example').map(([, code]) => fence(code))
  const parts = [text, told.join('\n'), ...examples].filter(part => part !== '')
  return parts.join('\n\n').trimEnd()
}

/** Returns the code without the comments above and inside it. */
function codeOf(node: ts.Node): string {
  const text = node.getText().replaceAll(/\/\*\*[^]*?\*\/\n\s*/g, '')
  if (ts.isFunctionDeclaration(node)) return text.slice(0, text.indexOf(' {\n'))
  return ts.isVariableStatement(node) ? text.slice(0, text.indexOf('=>') + 2).trimEnd() : text
}

function printMembers(node: Public): string {
  const members = membersOf(node)
  const fields = members.filter(member => !ts.isMethodSignature(member))
  const list = fields.map(member => {
    const text = docOf(member).text.replaceAll(/\s*\n\s*/g, ' ')
    const code = codeOf(member).replaceAll(/\s*\n\s*/g, ' ')
    return `- \`${code.replace('readonly ', '')}\`${text === '' ? '' : `: ${text}`}`
  })
  const methods = Map.groupBy(members.filter(ts.isMethodSignature), nameOf)
  const told = [...methods].map(([name, [first, ...more]]) => {
    if (first === undefined) return ''
    const code = [first, ...more].map(codeOf).join('\n')
    return `### ${nameOf(node)}.${name}\n\n${fence(code)}\n${printDoc(docOf(first))}`
  })
  return [list.join('\n'), ...told].filter(part => part !== '').join('\n\n')
}

function printPublic(name: string): string {
  const node = declarationOf(name)
  const isWhole = membersOf(node).length > 0
  const parts = [`## ${name}`, printDoc(docOf(node)), isWhole ? '' : fence(codeOf(node)).trimEnd()]
  return [...parts, printMembers(node)].filter(part => part !== '').join('\n\n')
}

const heading = `# Reference of the client

What \`coffer/client\` and \`coffer/client/socket\` export, made of their source by
\`bun scripts/client-docs.ts\`. [client.md](client.md) tells how to begin. Operations fail with a
\`CofferError\`; a \`TypeError\` says that an argument can be none, before anything is sent.`

const shapesHeading = `## Shapes of the document

As the OpenAPI document of the vault says them.`

export function printReference(): string {
  const shapes = fileOf('interface.ts').statements.map(node => node.getFullText().trim())
  const code = shapes.join('\n').replace(/^\/\*\*[^]*?@module\n \*\/\n/, '')
  const told = publicNames.map(printPublic)
  return `${[heading, ...told, shapesHeading, fence(code)].join('\n\n').trimEnd()}\n`
}
