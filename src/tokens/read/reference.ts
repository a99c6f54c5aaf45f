/**
 * References to tokens inside other JSON: `{{ <token id> }}` and `{{ <token id> | filters }}`.
 *
 * Ids hold characters that expressions lack, so the id is read here, up to the first bar or the
 * closing braces, and the filters are compiled as an expression on the token's data. Blanks around
 * the id are not part of it. Source: contract section 15.
 * @module
 */
import { compileTemplate, type CompiledTemplate } from '../../language/expression/compile.ts'
import type { Json } from '../../json/json.ts'
import { assertTokenId } from '../../rules/token-ids.ts'
import { invalid } from '../../errors.ts'

export interface Reference {
  readonly id: string
  /** On `data`; absent where the data itself is asked for. */
  readonly template?: CompiledTemplate
}

const opening = '{{'
const closing = '}}'

/**
 * @param at  place of the value, for errors
 * @returns `undefined` for a value without `{{`, which stands for itself
 * @throws ApiError `invalid_request` for a text that holds `{{` and is not exactly one reference
 */
export function readReference(value: Json, at: string): Reference | undefined {
  if (typeof value !== 'string' || !value.includes(opening)) return undefined
  if (!value.startsWith(opening) || !value.endsWith(closing)) {
    throw invalid(at, 'expected {{ and }} around the whole text, or none of them')
  }
  const inner = value.slice(opening.length, -closing.length)
  const bar = inner.indexOf('|')
  const id = (bar < 0 ? inner : inner.slice(0, bar)).trim()
  assertTokenId(id, at)
  if (bar < 0) return { id }
  const template = compileTemplate(`{{ data ${inner.slice(bar)}}}`, at, 'mask')
  if (!template.isWhole) throw invalid(at, 'expected one reference')
  return { id, template }
}
