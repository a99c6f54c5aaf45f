/**
 * Writes what the published schema of OCSF asks of an event of class 6003, API Activity, and of the
 * objects in it that an export of the audit log uses: `test/support/ocsf/api-activity.json`.
 *
 * Run it over a checkout of the schema at its release: `bun scripts/ocsf-class.ts FOLDER`. It
 * leaves out attributes of profiles, since no event names one. Source: ocsf/ocsf-schema, v1.3.0.
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OcsfAttribute, OcsfClass, OcsfShape } from '../test/support/ocsf/validate.ts'

/** As the schema has them; only what is read here. */
interface RawAttribute {
  readonly type?: string
  readonly is_array?: boolean
  readonly requirement?: OcsfAttribute['requirement']
  readonly enum?: Readonly<Record<string, unknown>>
  readonly profile?: string | null
}
interface RawShape {
  readonly extends?: string
  readonly constraints?: OcsfShape['constraints']
  readonly attributes: Readonly<Record<string, RawAttribute | readonly string[]>>
}

const [folder = '.'] = process.argv.slice(2)
const read = (path: string): unknown => JSON.parse(readFileSync(join(folder, path), 'utf8'))

const dictionary = read('dictionary.json') as RawShape & {
  readonly types: { readonly attributes: Readonly<Record<string, { readonly type?: string }>> }
}
const scalars = dictionary.types.attributes

const files: Readonly<Record<string, string>> = {
  api_activity: 'events/application/api.json',
  application: 'events/application/application.json',
  base_event: 'events/base_event.json',
}

type Merged = Record<string, RawAttribute>

function merge(into: Merged, { attributes }: Pick<RawShape, 'attributes'>): void {
  for (const [name, attribute] of Object.entries(attributes)) {
    if (name === '$include') {
      const included = (attribute as readonly string[]).filter(
        path => !path.startsWith('profiles/'),
      )
      for (const path of included) merge(into, read(path) as RawShape)
      continue
    }
    const before = into[name]
    const own = attribute as RawAttribute
    into[name] = {
      ...before,
      ...own,
      ...(before?.enum && { enum: { ...before.enum, ...own.enum } }),
    }
  }
}

function shapeOf(name: string, into: Merged = {}): OcsfShape {
  const raw = read(files[name] ?? `objects/${name}.json`) as RawShape
  const parent = raw.extends === undefined ? undefined : shapeOf(raw.extends, into)
  merge(into, raw)
  const constraints = raw.constraints ?? parent?.constraints
  const attributes = Object.fromEntries(
    Object.entries(into)
      .filter(([, { profile }]) => profile === undefined || profile === null)
      .map(([attribute, own]) => [attribute, attributeOf(attribute, own)]),
  )
  return { ...(constraints && { constraints }), attributes }
}

function attributeOf(name: string, own: RawAttribute): OcsfAttribute {
  const common = dictionary.attributes[name] as RawAttribute
  const { type = 'string_t', is_array: isArray = false, enum: values } = { ...common, ...own }
  const numbers = { ...common.enum, ...values }
  return {
    // A type may narrow another one, such as a number of a port.
    type: type in scalars ? (scalars[type]?.type ?? type) : type,
    isArray,
    requirement: own.requirement ?? 'optional',
    ...(Object.keys(numbers).length > 0 && { values: Object.keys(numbers).map(Number) }),
  }
}

const used = ['metadata', 'product', 'actor', 'user', 'session', 'api', 'response']
const objects = [...used, 'network_endpoint', 'resource_details']

const { attributes: categories } = read('categories.json') as {
  readonly attributes: Readonly<Record<string, { readonly uid: number }>>
}
const category = categories['application']?.uid ?? Number.NaN
const classId = category * 1_000 + (read(files['api_activity'] ?? '') as { uid: number }).uid

const event = shapeOf('api_activity')
/** Numbers that follow from the place of the class, which no file has. */
const idsOf = ({ activity_id: activity }: OcsfShape['attributes']) => ({
  category_uid: [category],
  class_uid: [classId],
  type_uid: (activity?.values ?? []).map(number => classId * 100 + number),
})

const result: OcsfClass = {
  version: String((read('version.json') as { version: string }).version),
  event: {
    ...event,
    attributes: Object.fromEntries([
      ...Object.entries(event.attributes),
      ...Object.entries(idsOf(event.attributes)).map(
        ([name, values]) => [name, { ...event.attributes[name], values }] as const,
      ),
    ]),
  },
  objects: Object.fromEntries(objects.map(name => [name, shapeOf(name)])),
}
writeFileSync(
  join(import.meta.dir, '../test/support/ocsf/api-activity.json'),
  `${JSON.stringify(result, null, 1)}\n`,
)
