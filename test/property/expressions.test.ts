/**
 * Laws of expressions on random text, trees and data.
 * @module
 */
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bindTemplate } from '../../src/language/expression/compile.ts'
import { filterNames, findFilter } from '../../src/language/expression/filters/filter-table.ts'
import { parseJsonPath } from '../../src/language/expression/json-path/parse-path.ts'
import { parseTemplate } from '../../src/language/expression/parse-expression.ts'
import { startRun } from '../../src/language/expression/run.ts'
import type {
  FilterCall,
  Operand,
  Output,
  Part,
  Template,
} from '../../src/language/expression/tree.ts'
import type { Json } from '../../src/lib/json/json.ts'
import { applyMask } from '../../src/rules/mask.ts'
import { ApiError } from '../../src/lib/errors.ts'
import { expressionCharsMax } from '../../src/limits/limits.ts'
import { json } from '../support/arbitrary-json.ts'
import { evaluateJson } from '../support/expressions.ts'
import { printTemplate } from '../support/print-template.ts'
import { pollutedPrototypes } from '../support/prototypes.ts'
import { canary } from '../support/refusal.ts'
import { seededBytes } from '../support/seeded.ts'

afterEach(() => expect(pollutedPrototypes()).toEqual([]))

const text = fc.string({ unit: 'binary', maxLength: 12 })

const scalar: fc.Arbitrary<Operand> = fc
  .oneof(
    fc.constantFrom(
      null,
      true,
      false,
      'true',
      'false',
      'X',
      'MM',
      'sha-256',
      '$.a',
      'a',
      "it's \\ '",
    ),
    fc.integer({ min: -20, max: 20 }),
    fc.constantFrom(1.5, -0.25, 1000),
    fc.constantFrom('1.50', '12345678901234567890').map(numberText => ({ numberText })),
    text,
  )
  .map(value => ({ kind: 'literal', value }))

const name = fc.oneof(
  fc.constantFrom('a', 'b-c', 'é😀', '0', 'a-', "it's", '', ' ', '__proto__'),
  text,
)

const path: fc.Arbitrary<Operand> = fc.record({
  kind: fc.constant('path' as const),
  root: fc.constantFrom('data' as const, 'metadata' as const),
  steps: fc.array(fc.oneof(name, fc.integer({ min: -3, max: 3 })), { maxLength: 3 }),
})

const operand = fc.oneof(scalar, path)

/** A call whose arguments keep the filter's rules, found by trying. */
const call: fc.Arbitrary<FilterCall> = fc
  .record({
    name: fc.constantFrom(...filterNames),
    operands: fc.array(operand, { maxLength: 4 }),
    flags: fc.constantFrom([], [{ name: 'allow_false', value: true }]),
  })
  .map(({ name, operands, flags }) => {
    const definition = findFilter(name)
    const rules = [...(definition?.required ?? []), ...(definition?.optional ?? [])]
    const kept = operands.slice(0, rules.length)
    const broken = kept.findIndex((each, index) => rules[index]?.(each) !== undefined)
    return {
      name,
      operands: broken < 0 ? kept : kept.slice(0, broken),
      flags: definition?.flag === undefined ? [] : flags,
    }
  })
  .filter(({ name, operands }) => operands.length >= (findFilter(name)?.required.length ?? 0))

/** `json` needs an encoder behind it, which random filters seldom have; it has tests of its own. */
const isJsonCall = ({ name }: FilterCall) => findFilter(name)?.bytes !== 'given'

const isSteadyCall = (each: FilterCall) => isJsonCall(each) && !findFilter(each.name)?.random

const output: fc.Arbitrary<Output> = fc.record({
  source: operand,
  filters: fc.array(call.filter(isSteadyCall), { maxLength: 4 }),
})

const literalText = fc
  .oneof(fc.constantFrom('{', '}', ' - ', '{ }', 'é😀', '%}'), text)
  .filter(each => each !== '' && !/\{[{%#]|\}\}/.test(each) && !each.endsWith('{'))

/** Trees as the parser makes them: no two texts side by side. */
const template: fc.Arbitrary<Template> = fc
  .array(fc.oneof<fc.Arbitrary<Part>[]>(literalText, output), { maxLength: 5 })
  .map(parts =>
    parts.filter((part, index) => typeof part !== 'string' || typeof parts[index - 1] !== 'string'),
  )

const refusalOf = (run: () => unknown): ApiError | undefined => {
  try {
    run()
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError)
    if (error instanceof ApiError) {
      expect(error.kind).toBe('invalid_request')
      return error
    }
    throw error
  }
}

const parse = (source: string) => parseTemplate(source, 'mask', 'fingerprint')

const pieces = [
  '{{',
  '}}',
  '{%',
  '%}',
  '{#',
  '{',
  '}',
  '|',
  ':',
  ',',
  '.',
  '[',
  ']',
  '(',
  ')',
  '-',
  '*',

  'data',
  'metadata',
  ' ',
  '\n',
  "'",
  '"',
  '\\',
  '0',
  '-1',
  '1.5',
  'true',
  'nil',
  '$',
  '@',
  '?',
  '==',
  '&&',
  '!',
  '..',
  '\ud800',
  'é',
  'a',
  'allow_false',
  '%Y',
  canary,
  ...filterNames,
]

const soup = fc
  .array(
    fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...pieces) }, { weight: 1, arbitrary: text }),
    {
      maxLength: 24,
    },
  )
  .map(each => each.join(''))

describe('parsing', () => {
  test('any text is a tree or a refusal that does not repeat it', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          soup,
          soup.map(each => `{{ data | ${each} }}`),
        ),
        source => {
          const refusal = refusalOf(() => parse(source))
          expect(`${refusal?.message} ${JSON.stringify(refusal?.fields)}`).not.toContain(canary)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('any text is a JSONPath query or a refusal that does not repeat it', () => {
    fc.assert(
      fc.property(soup, source => {
        const refusal = refusalOf(() => parseJsonPath(`$${source}`))
        expect(String(refusal?.message)).not.toContain(canary)
      }),
      { numRuns: 1_000 },
    )
  })

  test('a printed tree parses to the same tree', () => {
    fc.assert(
      fc.property(template, tree => {
        const printed = printTemplate(tree)
        fc.pre(printed.length <= expressionCharsMax)
        expect(parse(printed)).toEqual(tree)
        expect(printTemplate(parse(printed))).toBe(printed)
      }),
      { numRuns: 500 },
    )
  })
})

const isWellFormed = (value: Json): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isWellFormed)
  return (
    !(value instanceof Map) ||
    [...value].every(([key, each]) => key.isWellFormed() && isWellFormed(each))
  )
}

describe('evaluating', () => {
  test('any tree on any data gives well-formed JSON or a refusal, twice the same', () => {
    fc.assert(
      fc.property(template, json, (tree, data) => {
        const { evaluate } = bindTemplate(tree)
        const metadata = new Map([['a', 'b']])
        const once = () => evaluate(startRun({ at: 'mask', data, metadata }))
        const refusal = refusalOf(once)
        if (refusal !== undefined) return
        const value = once()
        expect(isWellFormed(value)).toBe(true)
        expect(once()).toEqual(value)
        const [part] = tree
        if (tree.length !== 1 || typeof part === 'string') expect(value).toBeString()
      }),
      { numRuns: 2_000 },
    )
  })

  test('a failure never repeats the data', () => {
    fc.assert(
      fc.property(
        call.filter(isSteadyCall),
        fc.constantFrom<Json[]>(canary, [canary], new Map([[canary, canary]])),
        (each, data) => {
          const source: Operand = { kind: 'path', root: 'data', steps: [] }
          const { evaluate } = bindTemplate([{ source, filters: [each] }])
          const refusal = refusalOf(() => evaluate(startRun({ at: 'mask', data })))
          expect(`${refusal?.message} ${JSON.stringify(refusal?.fields)}`).not.toContain(canary)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('a mask shows masked data or nothing; it never throws', () => {
    fc.assert(
      fc.property(json, json, (mask, data) => {
        const result = applyMask(mask, data)
        if (result !== undefined) expect(isWellFormed(result.masked)).toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})

const secret = fc.string({
  unit: fc.constantFrom('0', '7', 'a', 'Z', '-', ' ', 'é', '😀'),
  maxLength: 40,
})

const count = fc.integer({ min: 0, max: 45 })

/** Counts the secret's characters that still stand in their places, without preserved ones. */
const countShown = (shown: unknown, whole: string, preserved: string): number => {
  const characters = [...String(shown)]
  const own = [...whole]
  expect(characters).toHaveLength(own.length)
  return own.filter((each, index) => each === characters[index] && !preserved.includes(each)).length
}

describe('masking filters', () => {
  // proves C6.23
  test('reveal_last shows no more than it is to show', () => {
    fc.assert(
      fc.property(secret, count, (whole, most) => {
        const shown = evaluateJson(`{{ data | reveal_last: ${most} }}`, whole)
        if ([...whole].length <= most) expect(shown).toBe(whole)
        else expect(countShown(shown, whole, '-')).toBeLessThanOrEqual(most)
      }),
    )
  })

  // proves C6.24
  test('reveal shows no more than both ends, and never all', () => {
    fc.assert(
      fc.property(
        secret,
        count,
        count,
        fc.constantFrom('', '-', '- ', '😀', '0a'),
        (whole, first, last, preserved) => {
          const shown = evaluateJson(
            `{{ data | reveal: ${first}, ${last}, '#', '${preserved}' }}`,
            whole,
          )
          expect(countShown(shown, whole, preserved)).toBeLessThanOrEqual(first + last)
          if (whole !== '') expect(shown).not.toBe(whole)
        },
      ),
    )
  })

  // proves C6.25
  test('card_mask shows no more than the BIN and the last four digits, and never all', () => {
    const flag = fc.boolean()
    fc.assert(
      fc.property(
        secret,
        flag,
        flag,
        fc.constantFrom('', '-', '- '),
        (whole, bin, last, preserved) => {
          const shown = evaluateJson(
            `{{ data | card_mask: ${bin}, ${last}, '#', '${preserved}' }}`,
            whole,
          )
          const digits = String(shown).replaceAll(/\D/g, '').length
          expect(digits).toBeLessThanOrEqual((bin ? 8 : 0) + (last ? 4 : 0))
          expect([...String(shown)]).toHaveLength([...whole].length)
          if (whole !== '') expect(shown).not.toBe(whole)
        },
      ),
    )
  })

  test('last4 shows four characters', () => {
    fc.assert(
      fc.property(secret, whole => {
        expect(evaluateJson('{{ data | last4 }}', whole)).toBe([...whole].slice(-4).join(''))
      }),
    )
  })

  // proves C6.31
  test('an alias has the length of its value, keeps the ends it is to keep, and is another', () => {
    const small = fc.integer({ min: 0, max: 5 })
    fc.assert(
      fc.property(secret, small, small, fc.integer(), (whole, first, last, seed) => {
        const expression = `{{ data | alias_preserve_length: ${first}, ${last} }}`
        const own = [...whole]
        const more = { randomBytes: seededBytes(seed) }
        const draw = () => evaluateJson(expression, whole, 'id', more)
        if (own.length <= first + last) {
          expect(refusalOf(draw)).toBeDefined()
          return
        }
        const alias = [...String(draw())]
        expect(alias).toHaveLength(own.length)
        expect(alias.slice(0, first)).toEqual(own.slice(0, first))
        expect(alias.slice(own.length - last)).toEqual(own.slice(own.length - last))
        expect(alias).not.toEqual(own)
      }),
    )
  })
})
