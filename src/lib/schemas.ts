/**
 * Pieces of wire shapes that several features use.
 * @module
 */
import { Type, type TSchema } from '@sinclair/typebox'

/** A member that may be null or left out, which is the same. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** @param title  by which documents and clients know it, told once */
export const oneOf = <const T extends readonly string[]>(values: T, title: string) =>
  Type.Union(
    values.map(value => Type.Literal(value as T[number])),
    { title, names: values },
  )

/** Of an object in which any other member is a mistake: it is refused, and told which there are. */
export const closed = { additionalProperties: false } as const
