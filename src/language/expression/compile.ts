/**
 * Expressions as closures, compiled once per text and cached.
 *
 * Masks are evaluated at each read, so a compiled one needs no look-ups: it has one closure for the
 * source and one for each filter. The cache is bounded; the oldest entry is dropped first. Source:
 * contract section 6 (parsed once, cached by text).
 * @module
 */
import { present } from '../../lib/errors.ts'
import { expressionCacheEntriesMax } from '../../limits/work-limits.ts'
import type { Json } from '../../lib/json/json.ts'
import { ownText, makeTextCache, type TextCache } from '../../lib/maps.ts'
import type { FilterDefinition, Step } from './filters/definition.ts'
import { findFilter } from './filters/filter-table.ts'
import { parseTemplate } from './parse-expression.ts'
import {
  resolve,
  spend,
  type Run,
  startRun,
  type Scope,
  assertOutputFits,
  assertTextFits,
  jsonOf,
  textOf,
  type FilterValue,
} from './run.ts'
import type { FilterCall, Output, Template, TemplateUse } from './tree.ts'

export interface CompiledTemplate {
  /** True if it names neither data nor metadata, so its value is the same for every token. */
  readonly isConstant: boolean
  /** True for exactly one output without text around it: it keeps the type of its value. */
  readonly isWhole: boolean
  /** True if another evaluation on the same data may give another value. */
  readonly isRandom: boolean
  /** The tree it was compiled from. */
  readonly parts: Template
  readonly evaluate: (run: Run) => Json
}

/** Steps for one output before its filters. */
const stepsPerOutput = 32

const definitionOf = (call: FilterCall): FilterDefinition =>
  present(findFilter(call.name), 'a tree names filters of the table only')

const bindFilters = (output: Output): readonly Step[] =>
  output.filters.map(call => definitionOf(call).bind(call.operands, call.flags))

const compileOutput = (output: Output): ((run: Run) => Json) => {
  const source = resolve(output.source)
  const steps = bindFilters(output)
  return run => {
    spend(run, stepsPerOutput)
    let value: FilterValue = source(run)
    for (const step of steps) value = step(value, run)
    return jsonOf(value)
  }
}

/** Exactly one output keeps the type of its value. */
const compileWhole = (output: Output): ((run: Run) => Json) => {
  const evaluate = compileOutput(output)
  // A part of the data is never larger than the data.
  if (output.filters.length === 0) return evaluate
  return run => {
    const value = evaluate(run)
    assertOutputFits(value, run)
    return value
  }
}

/** Literal text around outputs turns them all into text. */
const compileMixed = (template: Template): ((run: Run) => Json) => {
  const parts = template.map(part => (typeof part === 'string' ? part : compileOutput(part)))
  return run => {
    let text = ''
    for (const part of parts) {
      text += typeof part === 'string' ? part : textOf(part(run), run)
      assertTextFits(text.length, run)
    }
    assertOutputFits(text, run)
    return text
  }
}

const isRandomOutput = (output: Output): boolean =>
  output.filters.some(call => definitionOf(call).random === true)

const isConstantOutput = ({ source, filters }: Output): boolean =>
  [source, ...filters.flatMap(call => call.operands)].every(({ kind }) => kind === 'literal')

/** Compiles a tree of `parseTemplate`. An empty one is the empty string. */
export const bindTemplate = (template: Template): CompiledTemplate => {
  const [part, next] = template
  const isWhole = part !== undefined && typeof part !== 'string' && next === undefined
  return {
    isConstant: template.every(each => typeof each === 'string' || isConstantOutput(each)),
    isWhole,
    isRandom: template.some(each => typeof each !== 'string' && isRandomOutput(each)),
    parts: template,
    evaluate: isWhole ? compileWhole(part) : compileMixed(template),
  }
}

/** One cache per use, because a text may be allowed in one use and refused in another. */
const caches = {
  id: makeTextCache<CompiledTemplate>(expressionCacheEntriesMax),
  mask: makeTextCache<CompiledTemplate>(expressionCacheEntriesMax),
  search_index: makeTextCache<CompiledTemplate>(expressionCacheEntriesMax),
  fingerprint: makeTextCache<CompiledTemplate>(expressionCacheEntriesMax),
} satisfies Record<TemplateUse, TextCache<CompiledTemplate>>

/**
 * Returns the compiled form of an expression, from the cache if its text was seen before.
 * @param text  the expression
 * @param at    field path for errors
 * @param use   its purpose
 * @throws ApiError `invalid_request` as `parseTemplate`
 */
export const compileTemplate = (text: string, at: string, use: TemplateUse): CompiledTemplate => {
  const cache = caches[use]
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const kept = ownText(text)
  const compiled = bindTemplate(parseTemplate(kept, at, use))
  cache.set(kept, compiled)
  return compiled
}

/*
 * Evaluating a compiled expression on the data of one token.
 *
 * The data is a value, never text to be parsed: `{{ 1 }}` inside it stays as it is (hardening H95).
 * Source: contract section 6.
 */

/**
 * Returns the value of an expression: of any JSON type if it is exactly one output, else a string.
 * @throws ApiError `invalid_request` at `scope.at` when a filter cannot work on this data, when it
 *   would take too much work, or when the output would be larger than a token's data; the message
 *   holds no value
 */
export const evaluateTemplate = (template: CompiledTemplate, scope: Scope): Json =>
  template.evaluate(startRun(scope))
