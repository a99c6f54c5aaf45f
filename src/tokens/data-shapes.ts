/**
 * JSON Schemas of `data` for the token types that restrict it, for readers of the document.
 *
 * The domain checks the data (`rules/token-types.ts`), with more precise errors. Source: contract
 * section 5.
 * @module
 */
import { Type, type TSchema } from '@sinclair/typebox'
import { bankAccountDigitsMax, cardNumberDigitsMax, cardNumberDigitsMin } from '../limits/limits.ts'
import { nullable } from '../lib/schemas.ts'

const digitsOfCard =
  `${cardNumberDigitsMin} to ${cardNumberDigitsMax} digits ` + 'that pass the Luhn check.'

const cardData = Type.Object(
  {
    number: Type.String({
      description: digitsOfCard,
    }),
    expiration_month: nullable(Type.Integer({ description: '1 to 12.' })),
    expiration_year: nullable(Type.Integer({ description: 'Four digits.' })),
    cvc: nullable(Type.String({ description: 'Three or four digits.' })),
  },
  { title: 'CardData', description: 'Of a `card`. Other members are kept.' },
)

const bankData = Type.Object(
  {
    routing_number: Type.String({ description: 'Nine digits that pass the ABA check.' }),
    account_number: Type.String({ description: `1 to ${bankAccountDigitsMax} digits.` }),
  },
  { title: 'BankData', description: 'Of a `bank`. Other members are kept.' },
)

const shapes: readonly (readonly [type: string, schema: TSchema])[] = [
  ['card', cardData],
  ['bank', bankData],
]

/** Not written in place: an object with its own `then` would pass for a promise. */
const keywords = { condition: 'if', consequence: 'then' } as const

/** JSON Schema 2020-12 section 10.2.2: a condition for each type. */
export const dataByType = shapes.map(([type, data]) => ({
  [keywords.condition]: { properties: { type: { const: type } } },
  [keywords.consequence]: { properties: { data } },
}))
