/**
 * Schemas as the OpenAPI document prints them: JSON Schema 2020-12, each titled one told once.
 *
 * The document is OpenAPI 3.1, whose schemas may say `const`, `null` and `examples` as ours do.
 * A schema with a title becomes a component of that name, and a reference stands in its place.
 * @module
 */

/** A schema, or any other object of the document. */
export type Plain = Readonly<Record<string, unknown>>

/** Titled schemas by their titles. */
export type Components = Map<string, Plain>

/** How the schema library prints a record; `additionalProperties` says it to more readers. */
const anyName = '^(.*)$'

/** A choice of texts as a list of them. */
function asEnum({ anyOf, ...rest }: Plain): Plain | undefined {
  const choices = Array.isArray(anyOf) ? (anyOf as readonly Plain[]) : []
  const isTexts = choices.length > 0 && choices.every(choice => typeof choice['const'] === 'string')
  if (!isTexts) return undefined
  return { ...rest, type: 'string', enum: choices.map(choice => choice['const']) }
}

/** A value or null, where one type says what the value is. */
function asNullable({ anyOf, ...rest }: Plain): Plain | undefined {
  const [value, nothing, ...more] = Array.isArray(anyOf) ? (anyOf as readonly Plain[]) : []
  const isNullable = nothing?.['type'] === 'null' && more.length === 0
  if (!isNullable || typeof value?.['type'] !== 'string' || 'enum' in value) return undefined
  return { ...rest, ...value, type: [value['type'], 'null'] }
}

function asAdditional({ patternProperties, ...rest }: Plain): Plain | undefined {
  const value = (patternProperties as Plain | undefined)?.[anyName]
  return value === undefined ? undefined : { ...rest, additionalProperties: value }
}

function describeMembers(schemas: Plain, components: Components): Plain {
  const entries = Object.entries(schemas)
  return Object.fromEntries(
    entries.map(([name, schema]) => [name, describeSchema(schema as Plain, components)]),
  )
}

function describeKeyword(keyword: string, value: unknown, components: Components): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return describeMembers(value as Plain, components)
    case 'anyOf':
      return (value as readonly Plain[]).map(schema => describeSchema(schema, components))
    case 'items':
      return describeSchema(value as Plain, components)
    default:
      return value
  }
}

/**
 * @param components that the schema needs are added
 * @returns the schema, or a reference to it where it has a title
 */
export function describeSchema(schema: Plain, components: Components): Plain {
  // `expected` is our own: what the answer to a fault says.
  const { expected: _, title, ...keywords } = schema
  const entries = Object.entries(keywords)
  const described = Object.fromEntries(
    entries.map(([keyword, value]) => [keyword, describeKeyword(keyword, value, components)]),
  )
  const simplest =
    asEnum(described) ?? asNullable(described) ?? asAdditional(described) ?? described
  if (typeof title !== 'string') return simplest
  components.set(title, simplest)
  return { $ref: `#/components/schemas/${title}` }
}
