/**
 * The types of the client as text, from the OpenAPI document of a vault.
 * @module
 */
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { format } from 'prettier'
import ts from 'typescript'
import { readDocument } from '../../test/support/openapi.ts'
import { openTestVault } from '../../test/support/vault.ts'

const heading = `/**
 * The shapes of what is sent and answered, made of the OpenAPI document by
 * \`bun scripts/client-types.ts\`.
 * @module
 */
`
const columns = 100
/** Notes that the types show better, and empty remains of conditions. */
const noise = [
  / & \((?:unknown(?: & )?)+\)/g,
  /^ *\/\*\* Format: (?:uuid|date-time) \*\/\n| *\* Format: (?:uuid|date-time)\n/gm,
  /^ *\/\*\* @enum \{string\} \*\/\n| *\* @enum \{string\}\n/gm,
  // Removed, since an editor's hint would begin with it.
  /(?<=\/\*\*(?:\n *\*)? )@description /g,
]
const style = { semi: false, singleQuote: true, printWidth: columns, arrowParens: 'avoid' } as const

const { factory } = ts
const dateType = factory.createTypeReferenceNode('Date')

/** Instants are dates in answers; requests accept texts as well. */
function asInstant(format: string | undefined, path: string): ts.TypeNode | undefined {
  if (format === 'date-time') return dateType
  if (!path.endsWith('/expires_at')) return undefined
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
  const nothing = factory.createLiteralTypeNode(factory.createNull())
  return factory.createUnionTypeNode([dateType, text, nothing])
}

/** Drops deprecated members, which exist for published clients: new code should not use them. */
const withoutDeprecated = (schemas: object): unknown =>
  JSON.parse(JSON.stringify(schemas), (_, value: unknown) =>
    Array.isArray(value) ? value.filter(each => each?.deprecated !== true) : value,
  )

/** Returns the schemas, each a member of `components.schemas`. */
function membersOf(nodes: readonly ts.Node[]): readonly ts.PropertySignature[] {
  const of = (members: Iterable<ts.Node>, name: string) =>
    [...members].filter(ts.isPropertySignature).find(each => nameOf(each) === name)?.type
  const components = nodes
    .filter(ts.isInterfaceDeclaration)
    .find(({ name }) => name.text === 'components')
  const schemas = of(components?.members ?? [], 'schemas')
  const members = schemas !== undefined && ts.isTypeLiteralNode(schemas) ? schemas.members : []
  return [...members].filter(ts.isPropertySignature)
}

const nameOf = ({ name }: ts.PropertySignature): string =>
  ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : ''

function declare(member: ts.PropertySignature): ts.Node {
  const type = member.type ?? factory.createKeywordTypeNode(ts.SyntaxKind.UnknownKeyword)
  const isExported = [factory.createModifier(ts.SyntaxKind.ExportKeyword)]
  const named = factory.createTypeAliasDeclaration(isExported, nameOf(member), undefined, type)
  return ts.setSyntheticLeadingComments(named, ts.getSyntheticLeadingComments(member))
}

/** Joins a one-line comment that stands on three lines. */
const oneLine = (text: string): string =>
  text.replaceAll(/\/\*\*\n *\* ([^\n]*)\n *\*\/$/gm, '/** $1 */')

/** Wraps a one-line comment that is too long. */
function wrapComment(line: string): string {
  const [, indent = '', text] = /^( *)\/\*\* (.*) \*\/$/.exec(line) ?? []
  if (text === undefined || line.length <= columns) return line
  const rows = ['']
  for (const word of text.split(' ')) {
    const row = `${rows.at(-1)} ${word}`
    if (indent.length + 2 + row.length <= columns) rows[rows.length - 1] = row
    else rows.push(` ${word}`)
  }
  return [`${indent}/**`, ...rows.map(row => `${indent} *${row}`), `${indent} */`].join('\n')
}

export async function printInterface(): Promise<string> {
  const { openapi, info, components } = await readDocument(await openTestVault(1))
  const schemas = withoutDeprecated(components.schemas)
  const document = { openapi, info, paths: {}, components: { schemas } } as unknown as OpenAPI3
  const types = await openapiTypescript(document, {
    immutable: true,
    alphabetize: true,
    transform: ({ format: of }, { path }) => asInstant(of, path ?? ''),
  })
  const printed = astToString(membersOf(types).map(declare))
  const named = printed.replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1')
  const text = noise.reduce((rest, part) => rest.replaceAll(part, ''), named)
  const formatted = await format(heading + text, { ...style, parser: 'typescript' })
  return oneLine(formatted).split('\n').map(wrapComment).join('\n')
}
