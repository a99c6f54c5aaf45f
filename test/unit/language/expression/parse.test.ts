import { describe, expect, test } from 'bun:test'
import { parseTemplate } from '../../../../src/language/expression/parse-expression.ts'
import type { TemplateUse } from '../../../../src/language/expression/tree.ts'
import { at, expectParseRefusal } from '../../../support/expressions.ts'
import { canary, expectRefusal } from '../../../support/refusal.ts'

const parse = (text: string, use: TemplateUse = 'mask') => parseTemplate(text, at, use)

const path = (...steps: (string | number)[]) => ({ kind: 'path', root: 'data', steps })

const literal = (value: unknown) => ({ kind: 'literal', value })

const output = (source: unknown, ...filters: unknown[]) => ({ source, filters })

const call = (name: string, ...operands: unknown[]) => ({ name, operands, flags: [] })

describe('parsing text and outputs', () => {
  test.each([
    ['', []],
    ['XXXX', ['XXXX']],
    ['{ "a": 1 } {x} 100%} #}', ['{ "a": 1 } {x} 100%} #}']],
    ['{{ data }}', [output(path())]],
    ['{{data}}', [output(path())]],
    ['a{{ data }}b{{ data.c }}', ['a', output(path()), 'b', output(path('c'))]],
    ['{{ data }}}', [output(path()), '}']],
    ['{{\n\tdata\r\n}}', [output(path())]],
  ])('takes %j', (text, tree) => {
    expect<unknown>(parse(text)).toEqual(tree)
  })

  // proves C6.8
  test.each([
    ['data.a.b', path('a', 'b')],
    ['data.a-b_2', path('a-b_2')],
    ['data.é.日本.😀.\u00a1', path('é', '日本', '😀', '\u00a1')],
    ['data.AZaz09_.Z-A', path('AZaz09_', 'Z-A')],
    ['data.true.data', path('true', 'data')],
    ['data.0', path('0')],
    ['data[0][-1]', path(0, -1)],
    ['data[ 12 ].a', path(12, 'a')],
    [`data["a b"]['it\\'s']`, path('a b', "it's")],
    ["data['}}']", path('}}')],
    ["'a\\n\\\\\\\"\\u0041\\ud83d\\ude00'", literal('a\n\\"A😀')],
    ["'\\u00aF\\u00Fa\\u0Af0'", literal('\u00af\u00fa\u0af0')],
    ['"a \' b"', literal("a ' b")],
    ['1', literal(1)],
    ['-12.5', literal(-12.5)],
    ['1.50', literal({ numberText: '1.50' })],
    ['12345678901234567890', literal({ numberText: '12345678901234567890' })],
    ['true', literal(true)],
    ['false', literal(false)],
    ['nil', literal(null)],
    ['null', literal(null)],
  ])('takes the operand %s', (text, operand) => {
    expect<unknown>(parse(`{{ ${text} }}`)).toEqual([output(operand)])
  })

  // proves A3.12
  test('takes filters with constants and paths as arguments', () => {
    expect<unknown>(parse(`{{ data.a|append:data.b[0] | reveal : 1 ,2, '#' | upcase }}`)).toEqual([
      output(
        path('a'),
        call('append', path('b', 0)),
        call('reveal', literal(1), literal(2), literal('#')),
        call('upcase'),
      ),
    ])
  })

  // proves C6.12
  test('reads a comma in the place of the first bar as that bar', () => {
    const written = '{{ data.number, reveal_last: 4 }}'
    expect<unknown>(parse(written)).toEqual([
      output(path('number'), call('reveal_last', literal(4))),
    ])
    for (const [comma, bar] of [
      [written, '{{ data.number | reveal_last: 4 }}'],
      ["{{data,reveal_last:4,'#'}}", "{{ data | reveal_last: 4, '#' }}"],
      ['a {{ data.a , upcase | last4 }} b', 'a {{ data.a | upcase | last4 }} b'],
      ["{{ data['a,b'], stringify }}", "{{ data['a,b'] | stringify }}"],
    ] as const) {
      for (const use of ['id', 'mask', 'search_index', 'fingerprint'] as const) {
        expect(parse(comma, use)).toEqual(parse(bar, use))
      }
    }
  })

  test('takes the one keyword argument that there is', () => {
    expect<unknown>(parse("{{ data | default: 'x', allow_false: true }}")).toEqual([
      output(path(), {
        name: 'default',
        operands: [literal('x')],
        flags: [{ name: 'allow_false', value: true }],
      }),
    ])
  })

  // proves C6.7
  test('knows metadata in a fingerprint expression alone', () => {
    const tree = [output({ kind: 'path', root: 'metadata', steps: ['a'] })]
    expect<unknown>(parse('{{ metadata.a }}', 'fingerprint')).toEqual(tree)
    for (const use of ['id', 'mask', 'search_index'] as const) {
      expectParseRefusal('{{ metadata.a }}', use)
      expectParseRefusal('{{ data | append: metadata.a }}', use)
    }
  })

  test('lets filters that draw at random into ids alone', () => {
    for (const name of ['alias_card', 'alias_preserve_format', 'alias_preserve_length']) {
      expect(parse(`{{ data | ${name} }}`, 'id')).toHaveLength(1)
      for (const use of ['mask', 'search_index', 'fingerprint'] as const) {
        expectParseRefusal(`{{ data | ${name} }}`, use)
      }
    }
  })
})

describe('refusing text that is no expression', () => {
  // proves C6.1, H90, H96
  test.each([
    '{% for i in (1..1000000000) %}x{% endfor %}',
    "{% include '/etc/passwd' %}",
    '{% render %}',
    '{% layout %}',
    'text {% comment %}',
    '{%- raw -%}',
    '{# comment #}',
    '{{ # comment }}',
    '{{ data',
    '{{ data }',
    'data }}',
    '{{ data }}}}',
    '}} {{',
    '{{',
    '{{ }}',
    '{{}}',
    '{{ {{ }} }}',
    '{{ {{ data }} }}',
    '{{{ data }}}',
    '{{- data }}',
    '{{ data -}}',
    '{{ data-}}',
    '{{ data | upcase-}}',
    '{{ data.a- }}',
  ])('refuses %j (hardening H90, H96)', text => {
    expectParseRefusal(text)
  })

  // proves A3.16, C6.2, H94, H104
  test.each([
    '{{ constructor }}',
    '{{ process }}',
    '{{ this }}',
    '{{ now }}',
    '{{ env }}',
    '{{ dataa }}',
    '{{ Data }}',
    '{{ __proto__ }}',
    '{{ empty }}',
    '{{ data. }}',
    '{{ data..a }}',
    '{{ data .a }}',
    '{{ data. a }}',
    '{{ data[] }}',
    '{{ data[0 }}',
    '{{ data[1.5] }}',
    '{{ data[-0] }}',
    '{{ data[true] }}',
    '{{ data[data.a] }}',
    '{{ data[99999999999999999999] }}',
    '{{ data["a] }}',
    '{{ data\u00a0 }}',
    '{{\b data }}',
    '{{\x0e data }}',
    '{{ data\0 }}',
    '{{ data.a\u00a0 }}',
    '{{ data.\u2003 }}',
    '{{ data.\u009f }}',
    '{{ data.@ }}',
    '{{ data.a@ }}',
    '{{ (1..9) }}',
    '{{ data == 1 }}',
    '{{ data data }}',
    "{{ 'open }}",
    "{{ 'a\\x' }}",
    "{{ '\\u12' }}",
    "{{ '\\u12g4' }}",
    "{{ '\\u12G4' }}",
    "{{ '\\u12@4' }}",
    "{{ '\\u12`4' }}",
    "{{ '\\ud83d' }}",
    '{{ 01 }}',
    '{{ 1. }}',
    '{{ .5 }}',
    '{{ 1e9 }}',
    '{{ +1 }}',
    '{{ - }}',
    '{{ -.5 }}',
    '{{ 1a }}',
    '{{ -data }}',
    `{{ ${'9'.repeat(310)} }}`,
  ])('refuses %j (hardening H94, H104)', text => {
    expectParseRefusal(text, 'fingerprint')
  })

  // proves A3.12, A3.13, C6.13, H93
  test.each([
    '{{ data | }}',
    '{{ data | | upcase }}',
    '{{ data || upcase }}',
    '{{ data | frobnicate }}',
    '{{ data | UPCASE }}',
    '{{ data | constructor }}',
    '{{ data | __proto__ }}',
    '{{ data | upcase: }}',
    '{{ data | upcase: 1 }}',
    '{{ data | upcase upcase }}',
    '{{ data | append }}',
    '{{ data | append: }}',
    "{{ data | append: 'a', 'b' }}",
    "{{ data | append: 'a', }}",
    "{{ data | append: , 'a' }}",
    "{{ data | append 'a' }}",
    '{{ data, }}',
    '{{ data,, upcase }}',
    '{{ data, | upcase }}',
    '{{ data |, upcase }}',
    '{{ data, upcase, downcase }}',
    '{{ data | upcase, downcase }}',
    '{{ data, reveal_last: 4, last4 }}',
    '{{ data, constructor }}',
    '{{ data, number }}',
    "{{ data, 'X' }}",
    '{{ data[0, 1] }}',
    '{{ data | reveal_last }}',
    '{{ data | reveal_last: -1 }}',
    '{{ data | reveal_last: 1e9 }}',
    '{{ data | reveal_last: 1000000000 }}',
    '{{ data | reveal_last: 1.5 }}',
    '{{ data | reveal_last: "4" }}',
    '{{ data | reveal_last: data }}',
    '{{ data | reveal_last: true }}',
    '{{ data | reveal_last: nil }}',
    '{{ data | reveal_last: length: 4 }}',
    "{{ data | reveal_last: 4, 'XX' }}",
    "{{ data | reveal_last: 4, '' }}",
    '{{ data | reveal_last: 4, nil }}',
    '{{ data | reveal_last: 4, 4 }}',
    "{{ data | reveal_last: 4, 'X', 1 }}",
    "{{ data | default: 'x', allow_true: true }}",
    "{{ data | default: 'x', allow_false: 1 }}",
    "{{ data | default: 'x', allow_false: data }}",
    "{{ data | default: 'x', allow_false: true, allow_false: true }}",
    '{{ data | default: allow_false: true }}',
    "{{ data | hmac: 'sha-256', 'k' }}",
    "{{ data | hmac: 'sha-256', 'k' | upcase }}",
    "a {{ data | hmac: 'sha-256', 'k' }}",
  ])('refuses %j (hardening H93)', text => {
    expectParseRefusal(text)
  })

  // proves C6.14
  test.each([
    ['{ data | last4 }', 0],
    [' {data.number}', 1],
    ['{ last4 }', 0],
    ['${data}', 1],
    ['card {data.number | last4} of {{ data.name }}', 5],
    ['{{ data }} { data }', 11],
    ['{ metadata.a }', 0],
  ])('refuses %j, whose braces are single', (text, position) => {
    const { fields } = expectRefusal(() => parseTemplate(text, 'mask', 'mask'), ['mask'])
    const expected = `position ${position}: expected {{ and }} around an expression, not { and }`
    expect(fields).toEqual({ mask: [expected] })
  })

  test.each(['{"a":1}', '{}', '{ }', 'a { b', 'set {x} of it', '} data {', '{ 1, 2 }', '{dat'])(
    'takes %j, which is text',
    text => {
      expect(parseTemplate(text, 'mask', 'mask')).toEqual([text])
    },
  )

  test.each([
    ['{{ data | last_4 }}', 'did you mean `last4`?'],
    ['{{ data | reveal_lst: 4 }}', 'did you mean `reveal_last`?'],
    ['{{ data | Upcase }}', 'did you mean `upcase`?'],
  ])('tells the filter that %j means', (text, told) => {
    const { fields } = expectRefusal(() => parseTemplate(text, 'mask', 'mask'), ['mask'])
    expect(fields).toEqual({ mask: [`position 10: unknown filter: ${told}`] })
  })

  test('lists the filters where none is near', () => {
    const text = `{{ data | ${'c4n4ry'} }}`
    const { message } = expectRefusal(() => parseTemplate(text, 'mask', 'mask'), ['mask'])
    expect(message).toContain('unknown filter: expected one of abs, alias_card, ')
    expect(message).toEndWith('url_encode, where')
  })

  test('says where the fault is, and what was expected', () => {
    expect(expectParseRefusal('{{ x }}', 'mask').message).toContain(
      'position 3: expected `data`, a',
    )
    expect(expectParseRefusal('{{ x }}', 'fingerprint').message).toContain('`data`, `metadata`')
    expect(expectParseRefusal('{{ data | upcase, 1 }}').message).toEndWith(
      ': position 16: expected | or }}',
    )
    expect(expectParseRefusal('{{ data | append }}').message).toContain('position 10: ')
    expect(expectParseRefusal('ab {% x %}').message).toContain(': position 3: ')
    expect(expectParseRefusal('{{- data }}').message).toEndWith(
      ': position 2: whitespace control is not supported',
    )
    expect(expectParseRefusal('{{ 1a }}').message).toEndWith(
      ': position 3: expected a plain decimal number',
    )
    expect(expectParseRefusal('{{ data[] }}').message).toEndWith(
      ': position 8: expected an integer or a string in brackets',
    )
    expect(expectParseRefusal("{{ data | append: : 'a' }}").message).toContain(
      ': position 18: expected `data`, a',
    )
  })

  test.each([
    canary,
    `{{ ${canary} }}`,
    `{{ data | ${canary} }}`,
    `{{ data | append: '${canary}', '${canary}' }}`,
    `{{ data | ${canary}: '${canary}' }}`,
    `{{ data['${canary}'`,
    `{{ data.${canary} `,
    `{{ '${canary}`,
    `{{ data | reveal_last: '${canary}' }}`,
    `{{ data | json: '${canary}' }}`,
    `{{ data | json: '$[?@.a == "${canary}]' }}`,
    `{{ data | date: '%!${canary}' }}`,
    `{{ data | default: 1, ${canary}: true }}`,
  ])('does not repeat the text of %j', text => {
    if (text === canary) expect(parse(text)).toEqual([canary])
    else expectParseRefusal(text, 'id', [canary.slice(0, 5)])
  })
})

describe('bounds of an expression (hardening H92)', () => {
  const spaces = (count: number) => ' '.repeat(count)

  // proves C6.17, H92
  test('takes 400 characters and refuses 401', () => {
    expect(parse(`{{${spaces(392)}data}}`)).toHaveLength(1)
    expectParseRefusal(`{{${spaces(393)}data}}`)
    expect(parse('x'.repeat(400))).toHaveLength(1)
    expectParseRefusal('x'.repeat(401))
    expectParseRefusal('x'.repeat(1024 * 1024))
    expectParseRefusal('{{data}}'.repeat(1_000))
  })

  // proves C6.18, H92
  test('takes 16 filters in one output and refuses 17', () => {
    expect(parse(`{{ data${' | upcase'.repeat(16)} }}`)).toHaveLength(1)
    expectParseRefusal(`{{ data${' | upcase'.repeat(17)} }}`)
    expectParseRefusal(`{{ data${' | upcase'.repeat(10_000)} }}`)
  })

  test('counts the filters of each output alone', () => {
    expect(parse(`{{ data${'|abs'.repeat(16)} }}{{ data${'|abs'.repeat(16)} }}`)).toHaveLength(2)
  })

  test('refuses a lone surrogate wherever it stands', () => {
    for (const text of ['\ud800', '{{ data["\udc00"] }}', "{{ data | append: '\ud800' }}"]) {
      expectParseRefusal(text)
    }
  })
})
