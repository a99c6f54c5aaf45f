import { describe, expect, test } from 'bun:test'
import { compileTemplate, evaluateTemplate } from '../../../../src/language/expression/compile.ts'
import { expressionCacheEntriesMax } from '../../../../src/limits/work-limits.ts'
import { at, evaluate } from '../../../support/expressions.ts'
import { expectRefusal } from '../../../support/refusal.ts'

describe('compiling expressions', () => {
  // proves C6.21
  test('the same text for the same use is compiled once', () => {
    const first = compileTemplate('{{ data.once }}', at, 'mask')
    expect(compileTemplate('{{ data.once }}', 'mask', 'mask')).toBe(first)
    expect(compileTemplate('{{ data.once }}', at, 'id')).not.toBe(first)
  })

  test('a text is kept while others are compiled', () => {
    const first = compileTemplate('{{ data.kept.first }}', at, 'mask')
    const second = compileTemplate('{{ data.kept.second }}', at, 'mask')
    expect(compileTemplate('{{ data.kept.first }}', at, 'mask')).toBe(first)
    expect(compileTemplate('{{ data.kept.second }}', at, 'mask')).toBe(second)
  })

  test('rights of one use are not those of another, although the text is known', () => {
    const text = '{{ metadata.kept }}'
    compileTemplate(text, at, 'fingerprint')
    expectRefusal(() => compileTemplate(text, 'mask', 'mask'), ['mask'])
  })

  test('a refusal is not kept, and names the path of each caller', () => {
    expectRefusal(() => compileTemplate('{{ nope }}', 'id', 'id'), ['id'])
    expectRefusal(() => compileTemplate('{{ nope }}', at, 'id'), [at])
  })

  test('a text that is not used is forgotten when many others come, and no other', () => {
    const compiled = (index: number) => compileTemplate(`{{ data.m${index} }}`, at, 'search_index')
    const [first, second] = [compiled(0), compiled(1)]
    for (let index = 2; index <= expressionCacheEntriesMax; index += 1) {
      compiled(index)
      expect(compiled(1)).toBe(second)
    }
    expect(compiled(0)).not.toBe(first)
  })

  test('one compiled expression serves many evaluations', () => {
    const template = compileTemplate('{{ data | reveal_last: 1 }}', at, 'mask')
    expect(evaluateTemplate(template, { at, data: 'ab' })).toBe('Xb')
    expect(evaluateTemplate(template, { at, data: 'abc' })).toBe('XXc')
    expect(evaluateTemplate(template, { at, data: 'ab' })).toBe('Xb')
  })

  test.each([
    ['fixed-id', { isConstant: true, isRandom: false, isWhole: false }],
    ['', { isConstant: true, isRandom: false, isWhole: false }],
    ['{{ data }}', { isConstant: false, isRandom: false, isWhole: true }],
    ['{{ 1 }}', { isConstant: true, isRandom: false, isWhole: true }],
    ["{{ 'a' | append: 'b' }}c", { isConstant: true, isRandom: false, isWhole: false }],
    ["{{ 'a' | append: data.b }}", { isConstant: false, isRandom: false, isWhole: true }],
    ['a-{{ data | last4 }}', { isConstant: false, isRandom: false, isWhole: false }],
    ['{{ data }}{{ data }}', { isConstant: false, isRandom: false, isWhole: false }],
    ['{{ data | alias_card }}', { isConstant: false, isRandom: true, isWhole: true }],
    [
      'a-{{ data | upcase | alias_preserve_format | upcase }}',
      { isConstant: false, isRandom: true, isWhole: false },
    ],
  ])('says of %j whether it is constant, random and whole', (text, claims) => {
    expect(compileTemplate(text, at, 'id')).toMatchObject(claims)
  })

  test('filters run from left to right', () => {
    expect(evaluate("{{ data | append: 'b' | upcase | append: 'c' }}", 'a')).toBe('ABc')
  })
})
