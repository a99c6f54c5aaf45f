/**
 * Instants: an accepted one is printed in full form, which parses as the same instant, and the
 * platform agrees.
 *
 * @module
 */
import { parseInstant, printInstantUtc } from '../../../src/rules/instants.ts'
import type { Target } from '../engine.ts'
import { assert, assertEqual, canary, resultOf } from '../invariants.ts'

const firstMs = Date.UTC(2000, 0, 1) - 1999 * 365.2425 * 86_400_000 - 2 * 86_400_000
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999) + 86_400_000

function run(input: string): void {
  const instant = resultOf(() => parseInstant(input, 'expires_at'))
  if (instant === undefined) return
  const { epochMs, text } = instant
  assert(Number.isInteger(epochMs) && epochMs > firstMs && epochMs < lastMs, 'within its years')
  assertEqual(parseInstant(text, 'expires_at'), instant, 'what is shown reads back')
  assert(Date.parse(text) === epochMs, 'the platform reads the same')
  const inUtc = printInstantUtc(epochMs)
  assert(Date.parse(inUtc) === epochMs, 'the platform reads the same in UTC')
}

export const target: Target = {
  seeds: [
    '8/26/2030',
    '8/26/2030 7:00:00 PM',
    '8/26/2030 7:23:57 PM -07:00',
    '08/26/2030 12:00:00 AM +14:00',
    '2030-08-26',
    '2030-08-26T19:23',
    '2030-08-26T19:23:57Z',
    '2030-08-26T19:23:57.123456789-07:00',
    '2/29/2028',
    '0001-01-01T00:00:00.000+00:00',
    '9999-12-31T23:59:59.999+00:00',
  ],
  dictionary: [
    '/',
    '-',
    ':',
    ' ',
    'T',
    'Z',
    'AM',
    'PM',
    'am',
    '+',
    '.',
    '+00:00',
    '-14:00',
    '+14:00',
    '+15:00',
    '0',
    '00',
    '1',
    '12',
    '13',
    '24',
    '29',
    '30',
    '31',
    '59',
    '60',
    '2000',
    '2100',
    '0000',
    '0001',
    '9999',
    '10000',
    '1/',
    '2/29/',
    '１',
    '−',
    '\n',
    canary,
  ],
  charsMax: 100,
  run,
}
