/**
 * Expressions under test, on plain values.
 * @module
 */
import { compileTemplate, evaluateTemplate } from '../../src/language/expression/compile.ts'
import type { Scope } from '../../src/language/expression/run.ts'
import type { TemplateUse } from '../../src/language/expression/tree.ts'
import { fromPlain, toPlain, type Json } from '../../src/lib/json/json.ts'
import { expectRefusal } from './refusal.ts'
import { seededBytes } from './seeded.ts'

/** Field path of every expression under test. */
export const at = 'search_indexes[0]'

const scopeOf = (data: Json, more: Partial<Scope> = {}): Scope => ({
  at,
  data,
  randomBytes: seededBytes(1),
  ...more,
})

/** Like `evaluate`, from Json to Json. */
export const evaluateJson = (
  expression: string,
  data: Json,
  use: TemplateUse = 'id',
  more: Partial<Scope> = {},
): Json => evaluateTemplate(compileTemplate(expression, at, use), scopeOf(data, more))

/** Returns the value of an expression on plain data, again as a plain value. */
export const evaluate = (
  expression: string,
  data: unknown = null,
  use: TemplateUse = 'id',
  more: Partial<Scope> = {},
): unknown => toPlain(evaluateJson(expression, fromPlain(data), use, more))

/** Returns the value of `{{ data | filters }}`. */
export const filter = (filters: string, data: unknown): unknown =>
  evaluate(`{{ data | ${filters} }}`, data)

/** Expects that an expression is refused when parsed, without an echo. */
export const expectParseRefusal = (
  expression: string,
  use: TemplateUse = 'id',
  secrets: readonly string[] = [],
) => expectRefusal(() => compileTemplate(expression, at, use), [at], secrets)

/** Expects that `{{ data | filters }}` parses, and fails on this data without an echo. */
export const expectDataRefusal = (
  filters: string,
  data: unknown,
  secrets: readonly string[] = [],
) => {
  const compiled = compileTemplate(`{{ data | ${filters} }}`, at, 'id')
  const scope = scopeOf(fromPlain(data))
  return expectRefusal(() => evaluateTemplate(compiled, scope), [at], secrets)
}
