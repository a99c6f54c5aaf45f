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
/** Of a document without paths, and what the types tell better. */
const noise = [
  / & \((?:unknown(?: & )?)+\)/g,
  /^export type (?:paths|webhooks|\$defs|operations) = .*\n/gm,
  /^ *(?:responses|parameters|requestBodies|headers|pathItems): never;?\n/gm,
  /^ *\/\*\* Format: (?:uuid|date-time) \*\/\n| *\* Format: (?:uuid|date-time)\n/gm,
  /^ *\/\*\* @enum \{string\} \*\/\n| *\* @enum \{string\}\n/gm,
]
const style = { semi: false, singleQuote: true, printWidth: columns, arrowParens: 'avoid' } as const

const { factory } = ts
const dateType = factory.createTypeReferenceNode('Date')

/** Instants are dates where they are answered; where they are sent, texts as well. */
function asInstant(format: string | undefined, path: string): ts.TypeNode | undefined {
  if (format === 'date-time') return dateType
  if (!path.endsWith('/expires_at')) return undefined
  const text = factory.createKeywordTypeNode(ts.SyntaxKind.StringKeyword)
  const nothing = factory.createLiteralTypeNode(factory.createNull())
  return factory.createUnionTypeNode([dateType, text, nothing])
}

/** A comment of one line that is too long, over several. */
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
  const { schemas } = components
  const document = { openapi, info, paths: {}, components: { schemas } } as unknown as OpenAPI3
  const types = await openapiTypescript(document, {
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    rootTypesKeepCasing: true,
    immutable: true,
    alphabetize: true,
    transform: ({ format: of }, { path }) => asInstant(of, path ?? ''),
  })
  const text = noise.reduce((rest, part) => rest.replaceAll(part, ''), astToString(types))
  const formatted = await format(heading + text, { ...style, parser: 'typescript' })
  return formatted.split('\n').map(wrapComment).join('\n')
}
