/**
 * Prints a JSON shape for readers: with names of types in place of values.
 * @module
 */
import { KindGuard, type TObject, type TSchema } from '@sinclair/typebox'

const note = ({ description }: TSchema): string =>
  description === undefined ? '' : `  // ${description}`

function printMembers({ properties, required = [] }: TObject, indent: string): string {
  const inner = `${indent}  `
  const lines = Object.entries(properties).map(([name, member]) => {
    const mark = required.includes(name) ? '' : '?'
    return `${inner}"${name}"${mark}: ${printShape(member, inner)}${note(member)}`
  })
  return `{\n${lines.join('\n')}\n${indent}}`
}

/**
 * @param indent of the line on which it begins
 * @throws Error for a kind of schema that no command has used so far
 */
export function printShape(schema: TSchema, indent = ''): string {
  if (KindGuard.IsObject(schema)) return printMembers(schema, indent)
  if (KindGuard.IsArray(schema)) return `[${printShape(schema.items, indent)}, …]`
  if (KindGuard.IsLiteral(schema)) return JSON.stringify(schema.const)
  if (KindGuard.IsUnion(schema)) {
    return schema.anyOf.map(one => printShape(one, indent)).join(' | ')
  }
  if (KindGuard.IsRecord(schema)) {
    const [value] = Object.values(schema.patternProperties)
    if (value !== undefined) return `{ string: ${printShape(value, indent)} }`
  }
  const { type } = schema as { readonly type?: unknown }
  if (typeof type === 'string' && !['object', 'array'].includes(type)) return type
  throw new Error('this kind of schema is not printed yet')
}
