/**
 * Expressions on data: a tree prints back to itself; evaluating it on any data gives the same
 * well-formed value each time, or a refusal; a mask never throws.
 *
 * In an input, the expression comes before the separator and the data after it.
 * @module
 */
import { bindTemplate } from '../../../src/language/expression/compile.ts'
import { filterNames } from '../../../src/language/expression/filters/filter-table.ts'
import { parseTemplate } from '../../../src/language/expression/parse-expression.ts'
import { startRun } from '../../../src/language/expression/run.ts'
import type { TemplateUse } from '../../../src/language/expression/tree.ts'
import { parseJson } from '../../../src/lib/json/parse-json.ts'
import { printJson, type Json } from '../../../src/lib/json/json.ts'
import { applyMask } from '../../../src/rules/mask.ts'
import { expressionCharsMax, tokenDataBytesMax } from '../../../src/limits/limits.ts'
import { printTemplate } from '../../../test/support/print-template.ts'
import { seededBytes } from '../../../test/support/seeded.ts'
import type { Target } from '../engine.ts'
import { assert, assertEqual, canary, resultOf, separator, splitInput } from '../invariants.ts'

const metadata = new Map([['a', 'b']])

const dataOf = (text: string): Json => {
  // Data that is no JSON becomes a JSON string: so most changes of a text stay useful.
  const parsed = resultOf(() => parseJson(text))
  return parsed === undefined ? text : parsed
}

function runAs(use: TemplateUse, expression: string, data: Json): void {
  const tree = resultOf(() => parseTemplate(expression, 'mask', use))
  if (tree === undefined) return
  const printed = printTemplate(tree)
  if (printed.length <= expressionCharsMax) {
    assertEqual(parseTemplate(printed, 'mask', use), tree, 'what is printed reads back')
  }
  const { evaluate, isRandom } = bindTemplate(tree)
  const once = () =>
    resultOf(() => evaluate(startRun({ at: 'mask', data, metadata, randomBytes: seededBytes(1) })))
  const value = once()
  assertEqual(once(), value, 'the value is the same each time')
  if (value === undefined) return
  const text = printJson(value)
  assert(text.isWellFormed(), 'the value is well-formed')
  assertEqual(parseJson(text), value, 'the value is one that JSON can hold')
  assert(isRandom || text.length <= 6 * tokenDataBytesMax, 'the value is no larger than data')
}

function run(input: string): void {
  const [expression, dataText] = splitInput(
    input.toWellFormed(),
    '{"a":"4242-4242-4242-4242","b":[3,1,2]}',
  )
  const data = dataOf(dataText)
  for (const use of ['fingerprint', 'id'] as const) runAs(use, expression, data)
  const masked = applyMask(expression, data)
  assert(masked === undefined || printJson(masked.masked).isWellFormed(), 'a mask is well-formed')
}

const card = '{"number":"4242424242424242","expiration_month":10,"expiration_year":2030}'

const on = (data: string, ...expressions: readonly string[]): readonly string[] =>
  expressions.map(expression => expression + separator + data)

export const target: Target = {
  seeds: [
    ...on(
      card,
      '{{ data.number | reveal_last: 4 }}',
      "{{ data.number | reveal: 6, 4, '#', '-' }}",
      "{{ data.number | card_mask: 'true', 'false', 'X', '-' }}",
      "{{ data | card_exp: 'MM/YY' }}-{{ data.number | card_bin }}",
      '{{ data.number | alias_card: true, true }}',
      "{{ data | json: '$..number' }}",
      '{{ data | stringify }}',
    ),
    ...on(
      `{"a":"${canary}","b":[3,1,2],"c":[{"x":1},{"x":null}],"d":"2030-08-26T19:23:57Z"}`,
      "{{ data.b | sort | reverse | join: '|' }}",
      "{{ data.c | map: 'x' | compact | first }}",
      "{{ data.c | where: 'x', 1 | size | plus: 1 | times: 2.5 | round: 1 }}",
      "{{ data.d | date: '%Y-%m-%d %H:%M' }}",
      "{{ data.a | upcase | replace: 'A', 'b' | slice: 1, 3 | default: 'x' }}",
      "{{ data.a | hmac: 'sha-256', 'key' | to_base64 }}",
      'x {{ data.a | alias_preserve_format: 1, 1 }} y {{ metadata.a }}',
      `{{ data | json: '$.c[?@.x == 1 && !@.y].x' }}`,
      `{{ data["a"] | split: '' | last | pad_left: 10, '0' | truncate: 5 | escape }}`,
      '{{ data.b[0] | to_string | to_number | divided_by: 3 | modulo: 2 | ceil | abs }}',
    ),
  ],
  dictionary: [
    ...filterNames,
    '{{',
    '}}',
    '{{ data',
    '{{ metadata',
    ' | ',
    ': ',
    ', ',
    '.',
    '[',
    ']',
    '(',
    ')',
    '"',
    "'",

    'data',
    'metadata',
    'true',
    'false',
    'nil',
    '-',
    '\\',
    '{%',
    '%}',
    '{#',
    'allow_false: true',
    '$',
    '@',
    '$..',
    '[*]',
    '[?',
    '==',
    '!=',
    '<=',
    '&&',
    '||',
    '[::2]',
    '..*',
    'length(',
    "'sha-512'",
    "'MM/YY'",
    '%Y',
    '%j',
    '%s',
    '1000',
    '0.1',
    separator,
    canary,
    '__proto__',
    'constructor',
    'prototype',
    '{"a":',
    '["',
    '"]',
    '😀',
    'null',
    '1e308',
    '-1',
  ],
  charsMax: 700,
  run,
}
