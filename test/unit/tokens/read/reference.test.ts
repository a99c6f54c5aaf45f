import { describe, expect, test } from 'bun:test'
import { readReference } from '../../../../src/tokens/read/detokenize.ts'
import { canary, expectRefusal } from '../../../support/refusal.ts'

describe('readReference', () => {
  test.each(['', 'plain', '}} {', '{ {a} }', 5, null, true])('leaves %j to itself', value => {
    expect(readReference(value, '[0]')).toBeUndefined()
  })

  test.each([
    ['{{abc}}', 'abc'],
    ['{{ abc }}', 'abc'],
    ['{{ order 17:"x" }}', 'order 17:"x"'],
    ['{{  7cc5b1c2-6b2f-4d5e-9a49-0d2a3e4f5a6b\t}}', '7cc5b1c2-6b2f-4d5e-9a49-0d2a3e4f5a6b'],
  ])('reads the id of %j up to its end', (text, id) => {
    expect(readReference(text, '[0]')).toEqual({ id })
  })

  test('reads the id up to the first bar, and compiles what follows', () => {
    const reference = readReference("{{ a.b-c d|append: '}} | {{'|upcase }}", '[0]')
    expect(reference?.id).toBe('a.b-c d')
    const run = { at: '', data: 'x', stepsLeft: 1_000 }
    expect(reference?.template?.evaluate(run)).toBe('X}} | {{')
  })

  test.each([
    `a {{ ${canary} }}`,
    `{{ ${canary} }} b`,
    `{{ ${canary}`,
    `{{ ${canary} }}{{ ${canary} }}`,
    `{{ ${canary} | last4 }}{{ data }}`,
    `{{ ${canary} | last4 }} x }}`,
    '{{}}',
    '{{ ab }}',
    `{{ ${canary}#1 }}`,
    `{{ ${canary} | ${canary} }}`,
    `{{ ${canary} | alias_card }}`,
    `{{ ${canary} | append: metadata.a }}`,
    `{{ ${canary} | }}`,
    '{{ | last4 }}',
  ])('refuses %j and repeats nothing of it', text => {
    expectRefusal(() => readReference(text, '[7]'), ['[7]'])
  })
})
