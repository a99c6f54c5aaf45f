/**
 * What a shop may set of the card fields: styles, labels, and what is said beside the card.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { directionOf, errorText, labelsOf } from '../../../src/elements/frame/labels.ts'
import { askedOf } from '../../../src/elements/frame/requests.ts'
import { stylesOf } from '../../../src/elements/frame/styles.ts'
import {
  labelCharsMax,
  requestCharsMax,
  stylePropertiesMax,
  styleValueCharsMax,
  timeoutMsMax,
} from '../../../src/elements/limits.ts'

describe('styles', () => {
  const input = (name: string, value: unknown) => ({ input: { [name]: value } })

  test.each([
    [{}],
    [{ form: { gap: '8px' }, label: {}, input: {}, focus: {}, invalid: {}, error: {} }],
    [input('color', 'rgb(1 2 3 / 50%)')],
    [input('background-color', 'oklch(40% 0.2 30)')],
    [input('font-family', '"Helvetica Neue", Arial, sans-serif')],
    [input('box-shadow', '0 1px 2px rgba(0, 0, 0, 0.2)')],
    [{ brand: { 'font-size': '12px' }, placeholder: { color: '#999' } }],
  ])('%j are taken', styles => {
    expect(stylesOf(styles) as object).toEqual(styles)
  })

  test.each([
    ['a value that loads', input('background-color', 'url(http://evil.example/a)')],
    ['one in other letters', input('background-color', 'URL (a)')],
    ['one that loads by another word', input('color', 'image-set("a" 1x)')],
    ['an expression', input('color', 'expression(alert)')],
    ['an attribute', input('color', 'attr(value)')],
    ['a variable', input('color', 'var(--a)')],
    ['a sum, of which the frame needs none', input('padding', 'calc(1px + 1px)')],
    ['an escape', input('color', 'u\\72l(a)')],
    ['a rule', input('color', 'red } * { color: red')],
    ['another declaration', input('color', 'red; position: fixed')],
    ['what outweighs', input('color', 'red !important')],
    ['an image', input('background-image', 'none')],
    ['all of the background', input('background', 'red')],
    ['a place', input('position', 'fixed')],
    ['a move', input('transform', 'none')],
    ['what hides a field', input('opacity', '0')],
    ['one more way to hide', input('display', 'none')],
    ['content', input('content', '"a"')],
    ['a name of a variable', input('--a', 'b')],
    ['a property with more behind it', input('color\n', 'red')],
    ['a selector', { 'input[value^="4"]': { color: 'red' } }],
    ['a name of every object', { constructor: { color: 'red' } }],
    ['too long a value', input('font-family', 'a'.repeat(styleValueCharsMax + 1))],
    ['a number', input('line-height', 1)],
    ['a list', { input: [['color', 'red']] }],
    ['a text', 'input { color: red }'],
    ['null', null],
    ['null of a place', { input: null }],
  ])('%s is none', (_, styles) => {
    expect(stylesOf(styles)).toBeUndefined()
  })

  test('more of them than a place needs are none', () => {
    const all = ['', '-top', '-right', '-bottom', '-left'].flatMap(side => [
      `padding${side}`,
      ...['', '-color', '-style', '-width'].map(part => `border${side}${part}`),
    ])
    const more = ['gap', 'row-gap', 'column-gap', 'outline', 'outline-color', 'outline-style']
    const others = ['outline-width', 'outline-offset', 'font-size', 'font-style', 'line-height']
    const fonts = ['font-family', 'font-weight', 'color', 'text-align', 'letter-spacing']
    const names = [...all, ...more, ...others, ...fonts]
    const styleOf = (count: number) => ({
      input: Object.fromEntries(names.slice(0, count).map(name => [name, '0'])),
    })
    expect(names.length).toBeGreaterThan(stylePropertiesMax)
    expect(stylesOf(styleOf(stylePropertiesMax))).toBeDefined()
    expect(stylesOf(styleOf(stylePropertiesMax + 1))).toBeUndefined()
  })
})

describe('labels', () => {
  test('are those of the shop, and ours for the rest', () => {
    const labels = labelsOf({ number: 'Kartennummer', numberInvalid: 'Falsch.' })
    expect(labels).toMatchObject({ number: 'Kartennummer', cvc: 'Security code' })
    if (labels === undefined) throw new Error('no labels')
    expect(errorText(labels, 'number', 'invalid')).toBe('Falsch.')
    expect(errorText(labels, 'expiry', 'past')).toBe('This date is past. Check month and year.')
    expect(errorText(labels, 'cvc', undefined)).toBe('')
  })

  test.each([
    ['en', 'ltr'],
    ['de-AT', 'ltr'],
    ['ar', 'rtl'],
    ['he-IL', 'rtl'],
    ['arn', 'ltr'],
  ])('in %s are written %s', (language, direction) => {
    const labels = labelsOf({ language })
    expect(labels && directionOf(labels)).toBe(direction as 'ltr')
  })

  test.each([
    ['a name that is none', { innerHTML: 'a' }],
    ['a name of every object', { toString: 'a' }],
    ['no text', { number: { a: 1 } }],
    ['too long a text', { number: 'a'.repeat(labelCharsMax + 1) }],
    ['a language that is none', { language: 'de" onload="' }],
    ['no language', { language: '' }],
    ['a text', 'a'],
    ['null', null],
  ])('%s is none', (_, labels) => {
    expect(labelsOf(labels)).toBeUndefined()
  })
})

describe('a request', () => {
  const asked = (more: object) =>
    askedOf({ key: 'key_a', request: {}, timeoutMs: 1_000, call: 1, type: 'tokenize', ...more })

  test('may say what says nothing of the card', () => {
    const request = {
      metadata: { a: 'b' },
      containers: ['/pci/high/'],
      expires_at: '2030-01-01',
      deduplicate_token: true,
    }
    expect(asked({ request })).toEqual({ key: 'key_a', request, timeoutMs: 1_000 })
  })

  const ring: { a?: unknown } = {}
  ring.a = ring
  test.each([
    ['an expression of the id', { request: { id: '{{ data.cvc }}' } }],
    ['a mask', { request: { mask: '{{ data.number }}' } }],
    ['a fingerprint', { request: { fingerprint_expression: '{{ data.cvc }}' } }],
    ['search indexes', { request: { search_indexes: ['{{ data.cvc }}'] } }],
    ['data', { request: { data: {} } }],
    ['a type', { request: { type: 'token' } }],
    ['a name of every object', { request: JSON.parse('{"__proto__":{}}') as unknown }],
    ['a list', { request: [] }],
    ['nothing', { request: null }],
    ['what is no JSON', { request: { metadata: ring } }],
    ['one number more than JSON has', { request: { metadata: { a: 1n } } }],
    ['too much', { request: { metadata: { a: 'b'.repeat(requestCharsMax) } } }],
    ['no key', { key: undefined }],
    ['a key that is another header', { key: 'key_a\r\nx: y' }],
    ['no time', { timeoutMs: 0 }],
    ['too much time', { timeoutMs: timeoutMsMax + 1 }],
    ['a time that is no number', { timeoutMs: Number.NaN }],
  ])('%s is refused', (_, more) => {
    expect(asked(more)).toMatchObject({ code: 'invalid_request' })
    expect(JSON.stringify(asked(more))).not.toContain('data.')
  })
})
