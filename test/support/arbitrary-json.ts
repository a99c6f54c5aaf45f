/**
 * Random Json values for laws: any well-formed text, hostile names, numbers that no double holds.
 * @module
 */
import fc from 'fast-check'
import type { Json } from '../../src/lib/json/json.ts'

const hostileNames = ['__proto__', 'constructor', 'toString', 'numberText', '', '1', '01', '\0']

const text = fc.string({ unit: 'binary', maxLength: 12 })

const name = fc.oneof(fc.constantFrom(...hostileNames), text)

/** Texts of JSON numbers of any shape within the range of a double. */
export const numberText: fc.Arbitrary<string> = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.constantFrom('0', '1', '12', '9007199254740993', '12345678901234567890'),
    fc.constantFrom('', '.0', '.5', '.10', '.1000000000000000055'),
    fc.constantFrom('', 'e0', 'E2', 'e+21', 'e-7', 'e-400', 'e-99999999999999999999'),
  )
  .map(parts => parts.join(''))

const numberOf = (numberText: string): Json =>
  String(Number(numberText)) === numberText ? Number(numberText) : { numberText }

const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)

const leaf: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(null, true, false),
  double.map(value => (Object.is(value, -0) ? 0 : value)),
  numberText.map(numberOf),
  text,
)

/** Values as `parseJson` makes them. */
export const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc
      .uniqueArray(fc.tuple(name, tie('value')), { maxLength: 4, selector: ([key]) => key })
      .map(entries => new Map(entries)),
  ),
})).value

/** Objects only, as merge patches and card data are. */
export const jsonObject: fc.Arbitrary<Json> = fc
  .uniqueArray(fc.tuple(name, json), { maxLength: 4, selector: ([key]) => key })
  .map(entries => new Map(entries))
