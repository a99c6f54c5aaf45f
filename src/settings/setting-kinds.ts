/**
 * Kinds of settings, from which the schemas are made: the accepted values of each, and the message
 * for any other.
 * @module
 */
import { Type, type SchemaOptions } from '@sinclair/typebox'
import { guessesPerMinuteSettingMax, settingCharsMax } from '../limits/setting-limits.ts'

/** Additions to JSON Schema: the message for a value that is not accepted. */
interface SettingOptions extends SchemaOptions {
  readonly description: string
  readonly expected: string
}

export const integer = (minimum: number, maximum: number, fallback: number, description: string) =>
  Type.Integer({
    minimum,
    maximum,
    default: fallback,
    description,
    expected: `an integer from ${minimum} to ${maximum}`,
  })

export const optionalInteger = (minimum: number, maximum: number, description: string) =>
  Type.Unsafe<number | undefined>(
    Type.Integer({
      minimum,
      maximum,
      description,
      expected: `an integer from ${minimum} to ${maximum}`,
    }),
  )

export const guesses = (fallback: number, description: string) =>
  integer(0, guessesPerMinuteSettingMax, fallback, description)

export const flag = (fallback: boolean, description: string) =>
  Type.Boolean({ default: fallback, description, expected: 'true or false' })

export const choice = <const T extends readonly string[]>(
  values: T,
  fallback: T[number],
  description: string,
) =>
  Type.Unsafe<T[number]>(
    Type.Union(
      values.map(value => Type.Literal(value)),
      { default: fallback, description, expected: `one of ${values.join(', ')}` },
    ),
  )

/** The system takes no path with a NUL, and no name of a host or a database. */
const withoutNul = '^[^\\0]*$'

export const text = (told: SettingOptions) =>
  Type.String({ minLength: 1, maxLength: settingCharsMax, pattern: withoutNul, ...told })

/** Its pattern or its format bounds its length. */
export const optionalText = (told: SettingOptions) =>
  Type.Unsafe<string | undefined>(Type.String(told))

/** An IPv6 address may be in brackets, as in a URL. */
export const host = (description: string) =>
  Type.Transform(
    text({ default: '127.0.0.1', description, expected: 'a host name or an IP address' }),
  )
    .Decode(name => name.replace(/^\[(.+)\]$/, '$1'))
    .Encode(name => name)

export const path = (description: string) =>
  Type.Unsafe<string | undefined>(text({ description, expected: 'a path without NUL' }))

/** A text of that format, lower-cased. */
export const lowerCase = (format: string) =>
  Type.Transform(Type.String({ format, maxLength: settingCharsMax }))
    .Decode(name => name.toLowerCase())
    .Encode(name => name)

export const list = (
  item: ReturnType<typeof lowerCase> | ReturnType<typeof Type.String>,
  told: SettingOptions,
) => Type.Unsafe<readonly string[]>(Type.Array(item, told))
