import { describe, expect, test } from 'bun:test'
import { compileTemplate, evaluateTemplate } from '../../../../src/language/expression/compile.ts'
import { parseJson } from '../../../../src/lib/json/parse-json.ts'
import { printJson, type Json } from '../../../../src/lib/json/json.ts'
import {
  evaluationStepsMax,
  jsonMembersMax,
  tokenDataBytesMax,
} from '../../../../src/limits/limits.ts'
import { at, evaluate, evaluateJson } from '../../../support/expressions.ts'
import { canary, expectRefusal } from '../../../support/refusal.ts'

const data = {
  text: 'a',
  number: 1.5,
  yes: true,
  nothing: null,
  list: ['x', 'y', { z: 1 }],
  object: { b: 2, a: 1 },
  'odd key': 'odd',
}

const refuse = (expression: string, value: Json) =>
  expectRefusal(() => evaluateJson(expression, value, 'fingerprint'), [at])

describe('the type of a value', () => {
  // proves A3.16, C6.4
  test.each([
    ['{{ data.text }}', 'a'],
    ['{{ data.number }}', 1.5],
    ['{{ data.yes }}', true],
    ['{{ data.nothing }}', null],
    ['{{ data.list }}', data.list],
    ['{{ data.object }}', data.object],
    ['{{ data }}', data],
    ['{{ data["odd key"] }}', 'odd'],
    ['{{ data.list[1] }}', 'y'],
    ['{{ data.list[-1].z }}', 1],
    ["{{ 'text' }}", 'text'],
    ['{{ 7 }}', 7],
    ['{{ nil }}', null],
  ])('%s keeps it when it is all there is', (expression, value) => {
    expect(evaluate(expression, data)).toEqual(value)
  })

  // proves C6.5
  test.each([
    [' {{ data.text }}', ' a'],
    ['{{ data.number }}{{ data.yes }}', '1.5true'],
    ['[{{ data.nothing }}]', '[]'],
    ['[{{ data.missing.deeper }}]', '[]'],
    ['{{ data.list }};', '["x","y",{"z":1}];'],
    ['{{ data.object }};', '{"a":1,"b":2};'],
    ['no output', 'no output'],
    ['', ''],
  ])('%j renders text when there is more', (expression, value) => {
    expect(evaluate(expression, data)).toBe(value)
  })

  test('numbers that no double holds come out as they went in', () => {
    const exact = parseJson('{"a":12345678901234567890,"b":1.0,"c":[1.10]}')
    expect(printJson(evaluateJson('{{ data }}', exact))).toBe(
      '{"a":12345678901234567890,"b":1.0,"c":[1.10]}',
    )
    expect(evaluateJson('{{ data.a }}', exact)).toEqual({ numberText: '12345678901234567890' })
    expect(evaluateJson('n={{ data.b }}', exact)).toBe('n=1.0')
  })
})

describe('metadata', () => {
  test('is null, member for member, where a token has none', () => {
    expect(evaluate('{{ metadata }}', data, 'fingerprint')).toBeNull()
    expect(evaluate('{{ metadata.a }}', data, 'fingerprint')).toBeNull()
    const metadata = new Map([['a', 'b']])
    expect(evaluate('{{ metadata.a }}', data, 'fingerprint', { metadata })).toBe('b')
  })
})

describe('paths', () => {
  // proves C6.2, H94
  test.each([
    '{{ data.missing }}',
    '{{ data.missing.deeper[0].still }}',
    '{{ data.list[3] }}',
    '{{ data.list[-4] }}',
    '{{ data.text.length }}',
    '{{ data.text[0] }}',
    '{{ data.list.length }}',
    '{{ data.list.size }}',
    '{{ data.list.first }}',
    '{{ data.list["0"] }}',
    '{{ data.object[0] }}',
    '{{ data.number.toFixed }}',
    '{{ data.constructor }}',
    '{{ data.__proto__ }}',
    '{{ data.constructor.constructor }}',
    '{{ data.list.constructor }}',
    '{{ data.get }}',
    '{{ data.size }}',
    '{{ data.hasOwnProperty }}',
  ])('%s is null (hardening H94)', expression => {
    expect(evaluate(expression, data)).toBeNull()
  })

  // proves S60
  test('names of prototypes are ordinary names of members', () => {
    const hostile = parseJson('{"__proto__":{"constructor":"own"},"size":3,"get":"got"}')
    expect(evaluateJson('{{ data.__proto__.constructor }}', hostile)).toBe('own')
    expect(evaluateJson('{{ data.size }}', hostile)).toBe(3)
    expect(evaluateJson('{{ data.get }}', hostile)).toBe('got')
  })

  test('an exact number has no members', () => {
    expect(evaluateJson('{{ data.numberText }}', { numberText: '1.0' })).toBeNull()
  })

  test('metadata is there for fingerprints, and null without any', () => {
    const metadata = new Map([['k', 'v']])
    expect(evaluate('{{ metadata.k }}', null, 'fingerprint', { metadata })).toBe('v')
    expect(evaluate('{{ metadata }}', null, 'fingerprint', { metadata })).toEqual({ k: 'v' })
    expect(evaluate('{{ metadata.k }}', null, 'fingerprint')).toBeNull()
  })

  // proves H95
  test('data that looks like an expression is never one (hardening H95)', () => {
    const text = '{{ 1 }}{% raw %}{{ data }}'
    expect(evaluate('{{ data }}', text)).toBe(text)
    expect(evaluate('a {{ data }}', text)).toBe(`a ${text}`)
    expect(evaluate('{{ data.a | append: data.b }}', { a: '{{ 1', b: ' }}' })).toBe('{{ 1 }}')
  })
})

describe('bounds of an evaluation', () => {
  const half = 'a'.repeat(tokenDataBytesMax / 2)
  const members = new Map(Array.from({ length: 9_000 }, (_, at) => [`${at}`, 1] as const))
  const manyDigits = Array.from({ length: 400 }, () => ({ numberText: `0.${'9'.repeat(1_900)}` }))
  const ideographs = Array.from({ length: 300 }, (_, at) => String.fromCharCode(0x4e_00 + at)).join(
    '',
  )

  // proves C6.19
  test('an output may be as large as the data of a token, and no larger', () => {
    expect(evaluate("{{ data | append: '' }}", half + half)).toHaveLength(tokenDataBytesMax)
    refuse("{{ data | append: 'b' }}", half + half)
    refuse('{{ data }}{{ data }}b', half)
    // Bytes count, not characters: this letter has two of them, its capital three.
    const letters = 'ɐ'.repeat(tokenDataBytesMax / 3)
    expect(evaluate('{{ data | upcase }}', letters)).toHaveLength(letters.length)
    refuse('{{ data | upcase }}', `${letters}ɐ`)
    refuse('{{ data | upcase }}x', `${letters}ɐ`)
  })

  // proves C6.20, E29.5, H91, S60
  test.each<readonly [string, string, Json]>([
    ['appending', `{{ data${' | append: data'.repeat(16)} }}`, half],
    ['replacing', "{{ data | replace: 'a', data | replace: 'a', data }}", 'a'.repeat(1_000)],
    ['replacing nothing', "{{ data | replace: '', data }}", 'a'.repeat(1_000)],
    ['escaping', `{{ data${' | escape'.repeat(16)} }}`, '&'.repeat(50_000)],
    ['joining', "{{ data | split: '' | join: data }}", 'a'.repeat(10_000)],
    ['splitting', "{{ data | split: '' | size }}", half],
    ...['split', 'replace', 'replace_first', 'remove', 'remove_first'].map(
      filter =>
        [
          `seeking by ${filter} what is nearly everywhere`,
          `{{ data.text | ${filter}: data.nearly }}`,
          new Map([
            ['text', 'a'.repeat(200_000)],
            ['nearly', `${'a'.repeat(50_000)}b${'a'.repeat(50_000)}`],
          ]),
        ] as const,
    ),
    [
      'telling items apart',
      '{{ data | uniq }}',
      Array.from({ length: 20_000 }, (_, at) => `${'a'.repeat(20)}${at}`),
    ],
    ['taking initials', '{{ data | initials }}', 'a '.repeat(30_000)],
    ['keeping many characters', `{{ data | reveal: 0, 0, 'X', '${ideographs}' }}`, half],
    ['printing', '{{ data }}{{ data }}{{ data }}', Array.from({ length: 100_000 }, () => 1)],
    ['concatenating', `{{ data${' | concat: data'.repeat(16)} }}`, [half]],
    [
      'measuring what is concatenated',
      `{{ data${" | concat: ''".repeat(15)} | size }}`,
      [Array.from({ length: 200_000 }, () => 1)],
    ],
    [
      'measuring objects',
      `{{ data${" | concat: ''".repeat(15)} | size }}`,
      [Array.from({ length: 50_000 }, () => new Map())],
    ],
    ['sorting many digits', `{{ data${' | sort'.repeat(15)} | size }}`, manyDigits],
    ['comparing many digits', "{{ data | json: '$[?@ < $[0]]' }}", manyDigits],
    [
      'comparing objects by long names',
      "{{ data | json: '$.l[?$.a != $.b]' }}",
      new Map<string, Json>([
        ['a', new Map([[half, 1]])],
        ['b', new Map([[`${half.slice(1)}a`, 1]])],
        ['l', Array.from({ length: 100 }, () => 1)],
      ]),
    ],
    [
      'comparing objects of many members',
      "{{ data | json: '$.l[?$.a != $.b]' }}",
      new Map<string, Json>([
        ['a', members],
        ['b', new Map(members)],
        ['l', Array.from({ length: 5 }, () => 1)],
      ]),
    ],
    [
      'reading many digits',
      "{{ data | card_exp: 'MM' }}",
      new Map<string, Json>([
        ['expiration_month', `${'0'.repeat(evaluationStepsMax)}1`],
        ['expiration_year', 2030],
      ]),
    ],
    [
      'sorting',
      `{{ data${' | sort | reverse'.repeat(8)} }}`,
      Array.from({ length: 20_000 }, (_, i) => i),
    ],
    ['querying', "{{ data | json: '$..[?@.a == 1]' }}", Array.from({ length: 50_000 }, () => 1)],
    [
      'nested filters',
      "{{ data | json: '$[?count($..*) == 1]' }}",
      Array.from({ length: 2_000 }, () => 1),
    ],
  ])('%s too much ends early (hardening H91)', (_what, expression, value) => {
    refuse(expression, value)
  })

  test.each([
    "{{ data | append: 'b' | size }}",
    "{{ data | prepend: 'b' | size }}",
    "{{ data | replace: 'b', 'ccc' | size }}",
    "{{ data | replace_first: 'b', 'cc' | size }}",
    '{{ data | escape | size }}',
    "{{ data | truncate: 524287, 'cc' | size }}",
  ])('nor may a value on the way be larger: %s', expression => {
    refuse(expression, `${'a'.repeat(tokenDataBytesMax - 2)}b&`)
  })

  test('a list that prints larger than it came is refused', () => {
    const data = parseJson(`[${'1e20,'.repeat(60_000)}1]`)
    refuse('{{ data | stringify | size }}', data)
    refuse('{{ data | join | size }}', ['a'.repeat(300_000), 'a'.repeat(300_000)])
    refuse(`{{ data${' | concat: data'.repeat(4)} | size }}`, ['a'.repeat(tokenDataBytesMax / 4)])
  })

  test('the default fingerprint takes any data of the largest size', () => {
    const members = Array.from({ length: jsonMembersMax }, (_, i) => [`k${i}`, 1] as const)
    const text = printJson(Array.from({ length: 5 }, () => new Map(members)))
    expect(text.length).toBeGreaterThan(tokenDataBytesMax * 0.8)
    expect(evaluateJson('{{ data | stringify }}', parseJson(text))).toHaveLength(text.length)
  })

  test('a failure repeats neither data nor expression', () => {
    const template = compileTemplate(`{{ data | append: '${canary}' | to_number }}`, at, 'mask')
    const error = expectRefusal(() => evaluateTemplate(template, { at, data: canary }), [at])
    expect(error.message).not.toContain('to_number')
  })
})
