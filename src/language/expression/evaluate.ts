/**
 * Evaluating a compiled expression on the data of one token.
 *
 * The data is a value and never text to be parsed: `{{ 1 }}` inside it stays as it is (hardening
 * H95). Source: contract section 6.
 * @module
 */
import type { Json } from '../../json/json.ts'
import type { CompiledTemplate } from './compile.ts'
import { startRun, type Scope } from './run.ts'

/**
 * The value of an expression: of any JSON type when it is exactly one output, else a string.
 * @throws ApiError `invalid_request` at `scope.at` when a filter cannot work on this data, when it
 *   would take too much work, or when the output would be larger than a token's data; the message
 *   holds no value
 */
export const evaluateTemplate = (template: CompiledTemplate, scope: Scope): Json =>
  template.evaluate(startRun(scope))
