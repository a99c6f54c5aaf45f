/**
 * The OpenAPI document as a client reads it; its schemas check requests and answers.
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { TestVault } from './vault.ts'

type Json = Readonly<Record<string, unknown>>

export interface Media {
  readonly schema: Json
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

interface Described {
  readonly $ref?: string
  readonly description: string
  readonly headers?: Json
  readonly content?: Readonly<Record<string, Media>>
}

interface DescribedOperation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly parameters: readonly (Json & { readonly name: string; readonly in: string })[]
  readonly requestBody?: Described
  readonly responses: Readonly<Record<string, Described>>
}

export interface OpenApiDocument {
  readonly openapi: string
  readonly tags: readonly { readonly name: string }[]
  readonly info: Readonly<Record<string, { readonly name: string } | string>>
  readonly components: {
    readonly responses: Readonly<Record<string, Described>>
    readonly schemas: Readonly<Record<string, { readonly properties: Json }>>
  }
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>
}

export interface Placed {
  /** For example `POST /tokens`. */
  readonly at: string
  readonly method: string
  readonly path: string
  readonly operation: DescribedOperation
}

export async function readDocument({ ask }: TestVault): Promise<OpenApiDocument> {
  const { status, body } = await ask('GET', '/swagger/json')
  if (status !== 200) throw new Error(`no document: ${status}`)
  return body as unknown as OpenApiDocument
}

export const operationsOf = ({ paths }: OpenApiDocument): readonly Placed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase()
      return { at: `${method} ${path}`, method, path, operation }
    }),
  )

const escape = (step: string) => step.replaceAll('~', '~0').replaceAll('/', '~1')

/** Forbids undeclared members in every object with named ones, so that a test finds them. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, close(item)]),
  )
  const isOpen = typeof closed['properties'] === 'object' && !('additionalProperties' in closed)
  return isOpen ? { ...closed, additionalProperties: false } : closed
}

/** Returns the faults of a value by the schema at a place of the document. */
export type Check = (value: unknown, ...place: readonly string[]) => readonly unknown[]

/** @param isClosed true if members that the document does not name are faults */
export function checkerOf(document: OpenApiDocument, isClosed: boolean): Check {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats.default(ajv)
  ajv.addSchema(isClosed ? (close(document) as object) : document, 'document')
  return (value, ...place) => {
    const check = ajv.compile({ $ref: `document#/${place.map(escape).join('/')}` })
    return check(value) ? [] : (check.errors ?? ['not valid'])
  }
}
