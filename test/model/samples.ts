/**
 * Parts of a run's commands: few of each, so that everything meets everything.
 * @module
 */
import type { Json, JsonObject } from './json.ts'

const cardNumbers = ['4242424242424242', '5555555555554444', '36227206271667']

/** Secrets that no failure may repeat, wherever they were sent. */
export const secrets: readonly string[] = [
  ...cardNumbers,
  '4242424242424241',
  '123-45-6789',
  '123456789',
  '00012345678901234',
  'c4n4ry',
  'navy.example',
  '654321',
  '0532 0130',
  '370400440532013000',
]

const [card1 = '', card2 = '', card3 = ''] = cardNumbers

/** Data with a type that takes it. */
export const fitData: readonly (readonly [string, Json])[] = [
  ['token', 'c4n4ry one'],
  ['token', 'C4N4RY ONE'],
  ['token', 'c4n4ry-two'],
  ['token', 7],
  ['token', false],
  ['token', ''],
  ['token', ['c4n4ry', 7]],
  ['token', { a: 'c4n4ry', b: { c: 7, d: null } }],
  [
    'token',
    Object.fromEntries([
      ['__proto__', { a: 1 }],
      ['constructor', 'c4n4ry'],
    ]),
  ],
  ['card', { number: card1 }],
  ['card', { number: card1, expiration_month: '07', expiration_year: 2031, cvc: 123 }],
  ['card', { number: card2, expiration_month: 12, holder: 'c4n4ry' }],
  ['bank', { routing_number: '021000021', account_number: '00012345678901234' }],
  ['bank', { routing_number: '110000000', account_number: '1' }],
  ['card_number', card1],
  ['card_number', card3],
  ['us_bank_account_number', '00012345678901234'],
  ['us_bank_routing_number', '021000021'],
  ['social_security_number', '123-45-6789'],
  ['social_security_number', '123456789'],
  ['employer_id_number', '12-3456789'],
  ['email', 'c4n4ry@navy.example'],
  ['email', 'C4n4ry@Navy.example'],
  ['email', 'ada+c4n4ry@mail.navy.example'],
  ['phone', '+4989654321'],
  ['phone', '+14155550132'],
  ['phone', '+3545812345'],
  ['iban', 'DE89370400440532013000'],
  ['iban', 'de89 3704 0044 0532 0130 00'],
  ['iban', 'NO9386011117947'],
  ['iban', 'GB82WEST12345698765432'],
  ['name', 'Ada c4n4ry'],
  ['name', { first: 'Ada', last: 'c4n4ry', middle: null }],
  ['address', '12 c4n4ry Street'],
  ['address', { street: 'c4n4ry', country: 'GB' }],
  ['address', { city: 'c4n4ry' }],
  ['date_of_birth', '1990-12-31'],
  ['date_of_birth', '2000-02-29'],
]

/** Data that its type refuses, or a type that is none. */
export const unfitData: readonly (readonly [string, Json])[] = [
  ['token', null],
  ['card', { number: '4242424242424241' }],
  ['card', { number: card1, expiration_month: 13 }],
  ['card', { number: card1, expiration_year: 31 }],
  ['card', { number: card1, cvc: '12' }],
  ['card', { cvc: '123' }],
  ['card', { number: card1, cvv: '123' }],
  ['card', { number: card1, exp_month: 7 }],
  ['card', { nummber: card1 }],
  ['card', card1],
  ['bank', { routing_number: '021000020', account_number: '1' }],
  ['bank', { routing_number: '021000021' }],
  ['card_number', '4242424242424241'],
  ['us_bank_account_number', '12'],
  ['us_bank_routing_number', '021000020'],
  ['social_security_number', '123-456789'],
  ['employer_id_number', '123-456789'],
  ['email', 'c4n4ry@navy'],
  ['email', 'c4n4ry <c4n4ry@navy.example>'],
  ['email', { address: 'c4n4ry@navy.example' }],
  ['phone', '004989654321'],
  ['phone', '+49 89 654321'],
  ['phone', '+1415555013'],
  ['phone', 4989654321],
  ['iban', 'DE89370400440532013001'],
  ['iban', 'DE8937040044053201300'],
  ['iban', 'DE89-3704-0044-0532-0130-00'],
  ['name', ' '],
  ['name', {}],
  ['name', { first: 'c4n4ry', last: 7 }],
  ['address', { country: null }],
  ['address', ['c4n4ry']],
  ['date_of_birth', '1999-02-29'],
  ['date_of_birth', '2999-01-01'],
  ['date_of_birth', '31.12.1990'],
  ['Card', { number: card1 }],
  ['constructor', 1],
]

export const dataPatches: readonly Json[] = [
  { a: 'c4n4ry three' },
  { a: null },
  { b: { c: null, e: [1] } },
  { number: card2 },
  { number: '4242424242424241' },
  { number: null },
  { cvc: '999', expiration_month: null },
  { expiration_month: '1' },
  { account_number: '17' },
  'c4n4ry one',
  card2,
  '123456789',
  'ada@navy.example',
  '+4989654322',
  'NO93 8601 1117 947',
  '1815-12-10',
  { first: 'Grace', last: null },
  { country: 'c4n4ry' },
  { country: null },
  ['c4n4ry'],
  null,
]

export const masks: readonly Json[] = [
  '{{ data | reveal_last: 4 }}',
  '{{ data | last4 }}',
  '{{ data }}',
  '{{ data.a }}',
  '{{ data.missing }}',
  'hidden',
  'ends with {{ data | last4 }}',
  '{{ data | stringify }}',
  { number: '{{ data.number | reveal_last: 4 }}', cvc: 'none' },
  { number: '{{ data.number }}' },
  '{{ data.number | last4 }}',
  '{{ data | reveal_last: 6 }}',
  { number: '{{ data.number | reveal_last: 6 }}', month: '{{ data.expiration_month }}' },
  { cvc: '{{ data.cvc }}', holder: '{{ data.holder | reveal_last: 1 }}' },
  { a: '{{ data.a | reveal_last: 1 }}', b: ['{{ data.b.c }}', 'fixed'] },
]

export const badMasks: readonly Json[] = [
  '{{ data | nothing }}',
  '{{ data.number | last4, reveal_last: 4 }}',
  '{% if data %}{% endif %}',
  '{{ data',
  { a: ['{{ metadata.a }}'] },
]

export const maskPatches: readonly Json[] = [
  { number: 'hidden' },
  { number: null },
  { b: null, a: '{{ data.a }}' },
]

export const fingerprintExpressions: readonly string[] = [
  '{{ data }}',
  '{{ data | stringify }}',
  '{{ data.a }}',
  '{{ data.number }}',
  'of {{ data.number }}',
  '{{ metadata.Colour }}',
  'constant',
]

export const badExpressions: readonly string[] = [
  '{{ data | nothing }}',
  '{{ other }}',
  '{% assign a = 1 %}',
  `{{ data }}${'x'.repeat(400)}`,
]

export const indexExpressions: readonly string[] = [
  '{{ data }}',
  '{{ data.a }}',
  '{{ data | last4 }}',
  '{{ data.number | last4 }}',
  '{{ data | stringify }}',
  '{{ data | initials }}',
  'constant',
]

export const containers = ['/', '/a/', '/a/b/', '/A/B/', '/ab/', '/pci/', '/pci/high/']
export const badContainers: readonly Json[] = [
  [],
  ['/a/', '/b/'],
  ['a'],
  ['/a'],
  ['/a//'],
  ['/a b/'],
  ['/4242424242424242/'],
]

/** Ids that are made of the data, where it can be. */
export const idExpressions = [
  '{{ data }}',
  '{{ data | last4 }}',
  'id-{{ data.a }}',
  '{{ data.number | last4 }}',
  '{{ data.number }}',
]
export const ids = ['one', 'One', 'id two', 'tok-1', 'tok-2', 'naïve-€-😀', 'x'.repeat(400)]
/** Beginnings of those ids, and of some random UUIDs. */
export const idBeginnings = [
  'o',
  'one',
  'One',
  'tok-',
  'tok-1',
  'na\u00efve-\u20ac',
  '0',
  '7',
  'a',
  'f3',
  'x'.repeat(90),
]
export const badIds: readonly Json[] = ['ab', 'a/b', 'a#b', 'a%20b', 'a\u0000b', 'x'.repeat(401), 5]

export const metadataSamples: readonly JsonObject[] = [
  {},
  { Colour: 'Blue' },
  { colour: 'blue', Order: 'A-1' },
  { Order: 'a-1', none: null },
  Object.fromEntries([
    ['__proto__', 'Blue'],
    ['constructor', ''],
  ]),
]
export const badMetadata: readonly Json[] = [
  { Colour: 5 },
  { Colour: '4242424242424242' },
  { '': 'x' },
  { Colour: 'x'.repeat(501) },
  'Blue',
]
export const metadataPatches: readonly JsonObject[] = [
  { Colour: null },
  { Colour: 'Red', Order: 'A-1' },
  { Order: null, colour: 'BLUE' },
]

/** Pairs that lists are filtered by; their case must not matter. */
export const metadataFilters: readonly (readonly [string, string])[] = [
  ['colour', 'BLUE'],
  ['Colour', 'red'],
  ['order', 'a-1'],
  ['__proto__', 'blue'],
  ['constructor', ''],
  ['absent', 'x'],
]
