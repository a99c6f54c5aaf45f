import { describe, expect, test } from 'bun:test'
import { bindTemplate } from '../../../../src/language/expression/compile.ts'
import { parseTemplate } from '../../../../src/language/expression/parse-expression.ts'
import { assertAffordable, printPaid, startRun } from '../../../../src/language/expression/run.ts'
import type { StepMeter } from '../../../../src/lib/work.ts'
import type { Json } from '../../../../src/lib/json/json.ts'
import { evaluationStepsMax } from '../../../../src/limits/limits.ts'
import { at } from '../../../support/expressions.ts'

const costOf = (filters: string, data: Json): number => {
  const run = startRun({ at, data })
  bindTemplate(parseTemplate(`{{ data | ${filters} }}`, at, 'mask')).evaluate(run)
  return evaluationStepsMax - run.stepsLeft
}

const textOf = (unit: string) => (count: number) => unit.repeat(count)

const listOf = (item: Json) => (count: number) => Array.from({ length: count }, () => item)

const objects = listOf(new Map([['a', 1]]))

const exact = (count: number) => ({ numberText: `1.${'0'.repeat(count)}` })

describe('the work of all evaluations of a request', () => {
  const upcase = bindTemplate(parseTemplate('{{ data | upcase }}', at, 'mask'))
  const stepsOf = (meter: StepMeter) => {
    upcase.evaluate(startRun({ at, data: 'text', meter }))
    return meter.stepsSpent
  }

  test('is counted together', () => {
    const meter = { stepsSpent: 0, stepsMax: evaluationStepsMax }
    const once = stepsOf(meter)
    expect(once).toBeGreaterThan(0)
    expect(stepsOf(meter)).toBe(2 * once)
  })

  test('ends at what is allowed, and not before', () => {
    const once = stepsOf({ stepsSpent: 0, stepsMax: evaluationStepsMax })
    expect(stepsOf({ stepsSpent: 0, stepsMax: once })).toBe(once)
    const meter = { stepsSpent: 0, stepsMax: once - 1 }
    expect(() => stepsOf(meter)).toThrow('less work together')
    expect(() => assertAffordable(meter)).toThrow('less work together')
  })

  const stringify = bindTemplate(parseTemplate('{{ data | json_stringify | size }}', at, 'mask'))
  const nested: () => Json = () => new Map<string, Json>([['a', [1, [2], new Map([['b', 'c']])]]])
  const unbound = () => ({ stepsSpent: 0, stepsMax: Number.MAX_SAFE_INTEGER })

  test('has what printing a value takes, once where its text is kept', () => {
    const spentOn = (data: Json) => {
      const meter = unbound()
      stringify.evaluate(startRun({ at, data, meter }))
      return meter.stepsSpent
    }
    const long = () => Array.from({ length: 1_000 }, nested)
    const data = long()
    const first = spentOn(data)
    expect(spentOn(long())).toBe(first)
    expect(spentOn(data)).toBeLessThan(first)
    const sizeOf = (value: Json) => stringify.evaluate(startRun({ at, data: value }))
    expect(sizeOf(long())).toBe(sizeOf(data))
  })

  test('has what an answer is printed for', () => {
    const printedFor = (value: Json, meter: StepMeter | undefined) =>
      printPaid(value, startRun({ at, data: null, ...(meter === undefined ? {} : { meter }) }))
    const meter = unbound()
    const text = printedFor(nested(), meter)
    expect([text, meter.stepsSpent > 250]).toEqual(['{"a":[1,[2],{"b":"c"}]}', true])
    expect(printedFor(nested(), undefined)).toBe(text)
    const scalar = unbound()
    expect([printedFor('text', scalar), scalar.stepsSpent]).toEqual(['"text"', 0])
    expect(() => printedFor(nested(), { stepsSpent: 0, stepsMax: 1 })).toThrow('less work together')
  })

  test('has what an evaluation could not pay for its work that was done', () => {
    const meter = unbound()
    const run = startRun({ at, data: 'ß'.repeat(100), meter })
    const cost = costOf('upcase', 'ß'.repeat(100))
    run.stepsLeft = cost - 1
    expect(() => upcase.evaluate(run)).toThrow('too much work')
    expect(meter.stepsSpent).toBe(cost)
  })

  test('may be without a bound, or not yet at it', () => {
    assertAffordable(undefined)
    assertAffordable({ stepsSpent: 5, stepsMax: 5 })
  })
})

describe('work is paid for by its size', () => {
  test.each<[string, (count: number) => Json, number]>([
    ['upcase', textOf('a'), 1],
    ['upcase', textOf('é'), 7],
    ['capitalize', textOf('é'), 7],
    ['append: data', textOf('a'), 4],
    ['prepend: data', textOf('a'), 4],
    ["split: ''", textOf('a'), 65],
    ["split: 'a'", textOf('ab'), 66],
    ["replace: 'a', 'b'", textOf('a'), 66],
    ["remove: 'a'", textOf('a'), 66],
    ["replace_first: 'a', 'b'", textOf('a'), 2],
    ["remove_first: 'a'", textOf('a'), 2],
    ['truncate: 10000', textOf('é'), 4],
    ["truncate: 1, ''", textOf('a'), 2],
    ['truncatewords: 10000', textOf('a '), 66],
    ['escape', textOf('&'), 103],
    ['escape_once', textOf('&amp;'), 210],
    ['newline_to_br', textOf('\n'), 103],
    ['strip_newlines', textOf('\n'), 103],
    ['strip_html', textOf('<>'), 102],
    ['url_encode', textOf('a'), 101],
    ['url_decode', textOf('a'), 101],
    ['reveal_last: 4', textOf('é'), 4],
    ["reveal: 1, 1, 'X', '-'", textOf('-'), 128],
    ["reveal: 1, 1, 'X', '-+'", textOf('-'), 150],
    ['slice: 0', textOf('é'), 4],
    ['size', textOf('é'), 3],
    ["hmac: 'sha-256', 'k' | to_base64", textOf('a'), 5],
    ['to_base16', textOf('a'), 1],
    ['stringify', listOf(1), 32],
    ['upcase', listOf(1), 32],
    ['plus: 1', exact, 8],
    ['reverse', objects, 36],
    ['compact', objects, 36],
    ['uniq', objects, 68],
    ['uniq', count => [exact(count)], 8],
    ['join', listOf('a'), 45],
    ['concat: data', objects, 72],
    ['slice: 0', objects, 36],
    ["map: 'a'", objects, 37],
    ["map: 'a.b.c'", objects, 39],
    ["where: 'a'", objects, 37],
    ["where: 'a.b.c'", objects, 39],
    ["where: 'a', 2", objects, 69],
    ["where: 'a', data[0].a", count => [new Map([['a', exact(count)]])], 16],
    ['sort', objects, 92],
    ['sort', count => [textOf('a')(count), textOf('a')(count)], 1],
    ["sort: 'a.b.c'", objects, 94],
    ['sort_natural', listOf('a'), 101],
    ["json: '$[?@.a == 2]'", objects, 220],
    ["json: '$..b'", objects, 128],
    ["json: '$[1:10000][5]'", objects, 120],
    ["json: '$[?@[0] == @[1]][9]'", count => [listOf(textOf('a')(count))(2)], 1],
    ["json: '$[?@[0] < @[1]][9]'", count => [listOf(textOf('a')(count))(2)], 1],
    ["json: '$[?@ == $[0]][9]'", count => [exact(count)], 16],
    ["json: '$[?length(@) == 0]'", count => [textOf('é')(count)], 1],
  ])('%s', (filters, make, least) => {
    const grown = costOf(filters, make(400)) - costOf(filters, make(200))
    expect(grown / 200).toBeGreaterThanOrEqual(least)
  })

  test.each([
    ['last4', 'abc'],
    ['reveal_last: 4', '4242424242424242'],
    ['card_mask: true', '4242424242424242'],
    ['date', '2027-01-01'],
    ['upcase', ''],
  ])('%s on %j costs little, and something', (filters, data) => {
    expect(costOf(filters, data)).toBeGreaterThanOrEqual(filters === 'date' ? 4_000 : 32)
    expect(costOf(filters, data)).toBeLessThan(10_000)
  })
})
