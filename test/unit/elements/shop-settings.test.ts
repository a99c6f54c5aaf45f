/**
 * Settings of the card fields by a shop: styles, labels, and messages beside the card.
 * @module
 */
import { describe, expect, test } from 'bun:test'
import { directionOf, errorText, labelsOf } from '../../../src/elements/frame/labels.ts'
import { styleProperties } from '../../../src/elements/frame/properties.ts'
import { askedOf } from '../../../src/elements/frame/requests.ts'
import { stylesOf } from '../../../src/elements/frame/styles.ts'
import { lightnessOf } from '../../../src/elements/host/scheme.ts'
import {
  labelCharsMax,
  requestCharsMax,
  stylePropertiesMax,
  styleValueCharsMax,
  timeoutMsMax,
} from '../../../src/elements/limits.ts'
import type { Labels } from '../../../src/elements/protocol.ts'

/** Returns the styles as declarations of CSS. */
const declared = (styles: unknown): unknown => {
  const declarations = stylesOf(styles)
  return typeof declarations === 'string' ? undefined : declarations
}

describe('styles', () => {
  const input = (name: string, value: unknown) => ({ input: { [name]: value } })

  test.each([
    [{}, []],
    [{ form: { gap: '8px' }, label: {}, error: {} }, [['form', 'gap', '8px']]],
    [input('color', 'rgb(1 2 3 / 50%)'), [['input', 'color', 'rgb(1 2 3 / 50%)']]],
    [
      input('background-color', 'oklch(40% 0.2 30)'),
      [['input', 'background-color', 'oklch(40% 0.2 30)']],
    ],
    [input('backgroundColor', 'red'), [['input', 'background-color', 'red']]],
    [input('borderTopLeftWidth', '1px'), undefined],
    [input('borderTopWidth', '1px'), [['input', 'border-top-width', '1px']]],
    [
      input('font-family', '"Helvetica Neue", Arial'),
      [['input', 'font-family', '"Helvetica Neue", Arial']],
    ],
    [input('borderTopWidth', '1px'), [['input', 'border-top-width', '1px']]],
    [
      input('boxShadow', '0 1px 2px rgba(0, 0, 0, 0.2)'),
      [['input', 'box-shadow', '0 1px 2px rgba(0, 0, 0, 0.2)']],
    ],
    [{ placeholder: { color: '#999' } }, [['placeholder', 'color', '#999']]],
  ])('%j are taken as CSS writes them', (styles, declarations) => {
    expect(declared(styles) as object).toEqual(declarations as object)
  })

  // proves F13
  test('have every property in either case', () => {
    for (const property of styleProperties) {
      const camel = property.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
      for (const name of [property, camel]) {
        expect(declared(input(name, '0'))).toEqual([['input', property, '0']])
      }
    }
  })

  // proves E17.6, S85
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
    ['a style that outweighs', input('color', 'red !important')],
    ['an image', input('background-image', 'none')],
    ['all of the background', input('background', 'red')],
    ['a place', input('position', 'fixed')],
    ['a move', input('transform', 'none')],
    ['a style that hides a field', input('opacity', '0')],
    ['one more way to hide', input('display', 'none')],
    ['content', input('content', '"a"')],
    ['a width for each digit', input('font-variant-numeric', 'proportional-nums')],
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
    expect(stylesOf(styles)).toBeString()
  })

  // proves F13
  test.each([
    [{ input: { fontSizes: '16px' } }, 'styles.input.fontSizes: expected one of accent-color, '],
    [{ input: { fontSize: 16 } }, 'styles.input.fontSize: expected a text of at most'],
    [{ label: { color: 'var(--ink)' } }, 'styles.label.color: expected a text of at most'],
    [{ inputs: { color: 'red' } }, 'styles.inputs: expected one of form, label, input, focus,'],
    [{ input: 'color: red' }, 'styles.input: expected an object such as'],
    ['input { color: red }', 'styles: expected an object such as'],
  ])('%j are refused by the name of what is wrong', (styles, message) => {
    expect(stylesOf(styles)).toStartWith(message)
  })

  test('a refusal repeats no value, and no name of any length', () => {
    const fault = stylesOf(input('a'.repeat(10_000), 'secret'))
    expect(fault).toBeString()
    expect((fault as string).length).toBeLessThan(1_500)
    expect(fault).not.toContain('secret')
    expect(stylesOf(input('color', 'url(secret)'))).not.toContain('secret')
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
    expect(stylesOf(styleOf(stylePropertiesMax))).toBeArray()
    expect(stylesOf(styleOf(stylePropertiesMax + 1))).toStartWith('styles.input: expected at most')
  })
})

describe('labels', () => {
  const labelsIn = (given: unknown, locale = 'en'): Labels => {
    const labels = labelsOf(given, locale)
    if (typeof labels === 'string') throw new Error(labels)
    return labels
  }

  test('are those of the shop, and ours for the rest', () => {
    const labels = labelsIn({ number: 'Card no.', numberInvalid: 'Wrong.' })
    expect(labels).toMatchObject({ number: 'Card no.', cvc: 'Security code', language: 'en' })
    expect(errorText(labels, 'number', 'invalid')).toBe('Wrong.')
    expect(errorText(labels, 'expiry', 'past')).toBe('This date is past. Check month and year.')
    expect(errorText(labels, 'cvc', undefined)).toBe('')
  })

  test.each([
    ['en', 'Card number', 'MM / YY', 'en'],
    ['en-GB', 'Card number', 'MM / YY', 'en-GB'],
    ['de', 'Kartennummer', 'MM / JJ', 'de'],
    ['de-AT', 'Kartennummer', 'MM / JJ', 'de-AT'],
    ['fr-CA', 'Numéro de carte', 'MM / AA', 'fr-CA'],
    ['es', 'Número de tarjeta', 'MM / AA', 'es'],
    ['ja', 'カード番号', '月 / 年', 'ja'],
    ['pt-BR', 'Card number', 'MM / YY', 'en'],
    ['constructor', 'Card number', 'MM / YY', 'en'],
  ])('in %s begin with %s', (locale, number, expiryPlaceholder, language) => {
    expect(labelsIn({}, locale)).toMatchObject({ number, expiryPlaceholder, language })
  })

  // proves F12
  test('are all there in each language, and no two languages share an error', () => {
    const english = labelsIn({})
    for (const locale of ['de', 'fr', 'es', 'ja']) {
      const labels = labelsIn({}, locale)
      expect(Object.keys(labels).toSorted()).toEqual(Object.keys(english).toSorted())
      for (const name of ['number', 'expiry', 'cvc', 'name'] as const) {
        const text = errorText(labels, name, 'incomplete')
        expect([locale, name, text === '']).toEqual([locale, name, false])
        expect(text).not.toBe(errorText(english, name, 'incomplete'))
      }
      for (const text of Object.values(labels)) expect(text.length).toBeLessThan(labelCharsMax)
    }
  })

  test.each([
    ['en', 'ltr'],
    ['de-AT', 'ltr'],
    ['ar', 'rtl'],
    ['he-IL', 'rtl'],
    ['arn', 'ltr'],
  ])('of a shop in %s are written %s', (language, direction) => {
    expect(directionOf(labelsIn({ language }))).toBe(direction as 'ltr')
  })

  test.each([
    ['a name that is none', { innerHTML: 'a' }, 'labels.innerHTML: expected one of language, '],
    ['a name of every object', { toString: 'a' }, 'labels.toString: expected one of'],
    ['no text', { number: { a: 1 } }, 'labels.number: expected a text of at most'],
    ['too long a text', { number: 'a'.repeat(labelCharsMax + 1) }, 'labels.number: expected'],
    ['a language that is none', { language: 'de" onload="' }, 'labels.language: expected the tag'],
    ['no language', { language: '' }, 'labels.language: expected the tag'],
    ['a text', 'a', 'labels: expected an object'],
    ['null', null, 'labels: expected an object'],
  ])('%s is none', (_, labels, message) => {
    expect(labelsOf(labels, 'en')).toStartWith(message)
  })

  test.each([['de" onload="'], [''], [undefined], [17], ['a'.repeat(36)]])(
    'in %j are none',
    locale => {
      expect(labelsOf({}, locale)).toStartWith('locale: expected the tag of a language')
    },
  )
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
  // proves S86
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
    ['a value that is no JSON', { request: { metadata: ring } }],
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

describe('a computed colour', () => {
  test.each([
    ['rgb(255, 255, 255)', 1],
    ['rgb(0, 0, 0)', 0],
    ['rgba(255, 255, 255, 0.5)', 1],
    ['oklch(0.95 0.01 250)', 0.95],
    ['oklab(0.2 0 0)', 0.2],
    ['lab(90 1 2)', 0.9],
    ['lch(10 1 2)', 0.1],
    ['color(display-p3 1 1 1)', 1],
    ['color(srgb 0 0 0 / 0.5)', 0],
    ['', 0],
  ])('%s is light to %d', (colour, lightness) => {
    expect(lightnessOf(colour)).toBeCloseTo(lightness)
  })
})
