/**
 * Parts of wire shapes that several features share.
 * @module
 */
import { Type, type SchemaOptions, type TSchema } from '@sinclair/typebox'
import { pageNumberMax, pageSizeDefault, pageSizeMax } from '../limits/limits.ts'

/** A member that may be null or left out, with the same meaning. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** @param title  the name that documents and clients use, defined once */
export const oneOf = <const T extends readonly string[]>(values: T, title: string) =>
  Type.Union(
    values.map(value => Type.Literal(value as T[number])),
    { title, names: values },
  )

/** Returns a schema with more said about it, and of its type. */
export const described = <T extends TSchema>(schema: T, more: SchemaOptions): T => ({
  ...schema,
  ...more,
})

/** The query of a list in pages, for the documentation; `paging.ts` reads it. */
export const pageQuery = (sizeDescription: string) => ({
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageNumberMax,
      default: 1,
      description: 'Which page.',
      examples: [1],
    }),
  ),
  size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSizeMax,
      default: pageSizeDefault,
      description: sizeDescription,
      examples: [20],
    }),
  ),
})

/** A page, as `paging.ts` prints it. @param title the name that documents and clients use */
export const pageShape = (title: string, totalDescription?: string) =>
  Type.Object(
    {
      total_items: Type.Integer(
        totalDescription === undefined ? {} : { description: totalDescription },
      ),
      page_number: Type.Integer(),
      page_size: Type.Integer(),
      total_pages: Type.Integer(),
    },
    { title },
  )

/** Refuses any other member of an object, and names the allowed ones. */
export const closed = { additionalProperties: false } as const
