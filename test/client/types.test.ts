/**
 * The types of the client: data by the type of a token, trees, and code that does not compile. The
 * compiler is the test; the code runs against a vault as well.
 * @module
 */
import { expect, test } from 'bun:test'
import {
  ref,
  type BankData,
  type CardData,
  type Client,
  type NewToken,
  type Token,
  type Tokenized,
} from '../../src/client/index.ts'
import { openServed } from './served.ts'

const { clientOf } = await openServed(9)
const vault: Client = clientOf('private')

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <T extends true>(): T => true as T

const number = '4242424242424242'

test('the data of a token is that of its type', async () => {
  const made = await vault.tokens.create({
    type: 'card',
    data: { number, expiration_month: 12, expiration_year: 2030, holder: 'Ada' },
  })
  holds<Same<typeof made.data, CardData | undefined>>()
  expect(made.data?.number.slice(-4)).toBe('4242')
  const bank = await vault.tokens.create({
    type: 'bank',
    data: { routing_number: '021000021', account_number: '000123456789' },
  })
  holds<Same<typeof bank.data, BankData | undefined>>()
  const token: Token = await vault.tokens.get(made.id)
  if (token.type !== 'card') throw new Error('it is a card')
  holds<Same<typeof token.data, CardData | undefined>>()
  expect(token.data?.expiration_year).toBe(2030)
  const named = await vault.tokens.get<'card'>(made.id)
  holds<Same<typeof named.data, CardData | undefined>>()
  const own: Token<{ holder: string }> = await vault.tokens.get(made.id)
  expect(own.data?.holder).toBe('Ada')
  for await (const { data } of vault.tokens.list({ type: ['card'] })) {
    holds<Same<typeof data, CardData | undefined>>()
  }
  const masked = await vault.tokens.create({
    type: 'card',
    data: { number },
    mask: '{{ data.number | last4 }}',
  })
  holds<Same<typeof masked.data, unknown>>()
  expect(masked.data).toBe('4242')
})

test('the result of a tree is typed by it', async () => {
  const made = await vault.tokenize({
    name: 'Ada Lovelace',
    cards: [{ type: 'card', data: { number } }],
    nothing: null,
  })
  holds<Same<typeof made.name, string>>()
  holds<Same<typeof made.nothing, null>>()
  holds<Same<(typeof made.cards)[0]['data'], CardData | undefined>>()
  expect(made.cards[0].data?.number).toBe('XXXXXXXXXXXX4242')
  expect(made.cards[0].created_at).toBeInstanceOf(Date)
  expect(made.nothing).toBeNull()
  const shown = await vault.detokenize<{ number: string; name: string }>({
    number: ref(made.cards[0].id, '$.number'),
    name: ref(made.name),
  })
  expect(shown).toEqual({ number, name: 'Ada Lovelace' })
  holds<Same<Tokenized<unknown>, unknown>>()
  holds<Same<Tokenized<string[]>, string[]>>()
})

/** Never called: the compiler refuses each line that says so. */
export const wrong = () => [
  // @ts-expect-error: there is no such type
  vault.tokens.create({ type: 'cart', data: 1 }),
  // @ts-expect-error: the number is missing
  vault.tokens.create({ type: 'card', data: { nummber: number } }),
  // @ts-expect-error: a card is an object
  vault.tokens.create({ type: 'card', data: number }),
  // @ts-expect-error: there is no such type to filter by
  vault.tokens.list({ type: ['cart'] }),
  // @ts-expect-error: metadata are texts
  vault.tokens.create({ type: 'token', data: 1, metadata: { a: 1 } }),
  // @ts-expect-error: there is no such option
  vault.tokens.get('a', { timeout: 1 }),
  // @ts-expect-error: an instant is a date or a text
  vault.tokens.create({ type: 'token', data: 1, expires_at: 17 }),
]

export const bank: NewToken<'bank'> = {
  type: 'bank',
  data: { routing_number: '021000021', account_number: '000123456789' },
}
