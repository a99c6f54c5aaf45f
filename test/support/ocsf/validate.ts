/**
 * The check of an event by the published schema of its class of OCSF: required attributes,
 * types, enumerations, constraints, and no attribute that the schema does not have.
 * @module
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface OcsfAttribute {
  /** Name of a scalar type, or of an object. */
  readonly type: string
  readonly isArray: boolean
  readonly requirement: 'required' | 'recommended' | 'optional'
  /** The numbers of an enumeration. */
  readonly values?: readonly number[]
}

export interface OcsfShape {
  readonly constraints?: {
    readonly at_least_one?: readonly string[]
    readonly just_one?: readonly string[]
  }
  readonly attributes: Readonly<Record<string, OcsfAttribute>>
}

export interface OcsfClass {
  readonly version: string
  readonly event: OcsfShape
  readonly objects: Readonly<Record<string, OcsfShape>>
}

/** The class, as `scripts/ocsf-class.ts` wrote it. */
export const published = JSON.parse(
  readFileSync(join(import.meta.dir, 'api-activity.json'), 'utf8'),
) as OcsfClass

type Members = Readonly<Record<string, unknown>>

const scalarTypes: Readonly<Record<string, (value: unknown) => boolean>> = {
  string_t: value => typeof value === 'string',
  integer_t: value => Number.isSafeInteger(value),
  long_t: value => Number.isSafeInteger(value),
  boolean_t: value => typeof value === 'boolean',
  json_t: () => true,
  object: value => typeof value === 'object' && value !== null,
}

/** @returns what is wrong, each with the path of its attribute */
export function faultsIn(event: Members): string[] {
  const { event: shape, objects } = published
  const faults: string[] = []

  function checkValue(path: string, value: unknown, { type, values }: OcsfAttribute): void {
    const isScalar = scalarTypes[type]
    const object = objects[type]
    if (isScalar !== undefined) {
      if (!isScalar(value)) faults.push(`${path}: is no ${type}`)
    } else if (object === undefined) faults.push(`${path}: ${type} is not among the objects`)
    else checkShape(path, value as Members, object)
    if (values !== undefined && !values.includes(Number(value)))
      faults.push(`${path}: no such value`)
  }

  function checkShape(
    path: string,
    members: Members,
    { attributes, constraints }: OcsfShape,
  ): void {
    for (const [name, attribute] of Object.entries(attributes)) {
      const value = members[name]
      if (value === undefined) {
        if (attribute.requirement === 'required') faults.push(`${path}.${name}: is required`)
      } else if (!attribute.isArray) checkValue(`${path}.${name}`, value, attribute)
      else if (!Array.isArray(value)) faults.push(`${path}.${name}: is no array`)
      else for (const each of value as unknown[]) checkValue(`${path}.${name}[]`, each, attribute)
    }
    const strange = Object.keys(members).filter(name => attributes[name] === undefined)
    for (const name of strange) faults.push(`${path}.${name}: is no attribute`)
    const given = (names: readonly string[] = []) =>
      names.filter(name => members[name] !== undefined)
    const { at_least_one: some, just_one: one } = constraints ?? {}
    if (some !== undefined && given(some).length === 0) faults.push(`${path}: has none of ${some}`)
    if (one !== undefined && given(one).length !== 1) faults.push(`${path}: has not one of ${one}`)
  }

  checkShape('event', event, shape)
  return faults
}
