/**
 * Parts of wire shapes that several features share.
 * @module
 */
import { Type, type TSchema } from '@sinclair/typebox'

/** A member that may be null or left out, with the same meaning. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]))

/** @param title  the name that documents and clients use, defined once */
export const oneOf = <const T extends readonly string[]>(values: T, title: string) =>
  Type.Union(
    values.map(value => Type.Literal(value as T[number])),
    { title, names: values },
  )

/** Refuses any other member of an object, and names the allowed ones. */
export const closed = { additionalProperties: false } as const
