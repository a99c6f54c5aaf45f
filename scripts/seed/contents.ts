/**
 * Contents of a data set: token requests in blocks of 20, so that every share is exact.
 *
 * In each block, 12 are cards with exactly 8 terms, 2 are bank accounts, 4 are free data and 2 are
 * social security numbers. Half of all have one pair of metadata, a tenth has another one,
 * independently; 20 tokens in all have a third. One container has exactly 1,000 tokens.
 * @module
 */
import { isLuhnValid } from '../../src/rules/clear-text.ts'
import type { Json } from '../../src/lib/json/json.ts'
import type { CreateTokenBody } from '../../src/tokens/schema.ts'
import type { Random } from './random.ts'

export const blockTokens = 20
/** Minimum for the container to be full. */
export const tokensMin = 5_000

export const halfPair = { name: 'region', value: 'europe' } as const
export const tenthPair = { name: 'plan', value: 'premium' } as const
export const rarePair = { name: 'audit', value: 'pending' } as const
export const rareTokens = 20
export const smallContainer = { path: '/tenants/small/', tokens: 1_000 } as const
/** Terms of a card: in `/pci/high/` without metadata, in `/cards/` with one pair. */
export const cardTerms = 8

/** `mixed`: as above; `cards`: nothing but cards, half of them with the pair. */
export type Mix = 'mixed' | 'cards'

type Slot =
  | 'card'
  | 'card half'
  | 'bank'
  | 'bank half'
  | 'free'
  | 'free half'
  | 'free half tenth'
  | 'ssn half'
  | 'ssn tenth'

const repeat = (slot: Slot, count: number): Slot[] => Array.from({ length: count }, () => slot)

const slotsOf: Readonly<Record<Mix, readonly Slot[]>> = {
  mixed: [
    ...repeat('card', 6),
    ...repeat('card half', 6),
    'bank',
    'bank half',
    ...repeat('free', 2),
    'free half',
    'free half tenth',
    'ssn half',
    'ssn tenth',
  ],
  cards: [...repeat('card', 10), ...repeat('card half', 10)],
}

/** Spreads `some` evenly over `all` places. True if this place is one of them. */
const isAmong = (place: number, all: number, some: number): boolean =>
  Math.floor(((place + 1) * some) / all) > Math.floor((place * some) / all)

function cardNumber(random: Random): string {
  const body = `4${random.digits(14)}`
  const digit = [...'0123456789'].find(check => isLuhnValid(body + check))
  return body + (digit ?? '0')
}

export const cardOf = (random: Random): Json =>
  new Map<string, Json>([
    ['number', cardNumber(random)],
    ['expiration_month', 1 + random.integer(12)],
    ['expiration_year', 2026 + random.integer(8)],
    ['cvc', random.digits(3)],
  ])

const routingNumbers = ['021000021', '110000000', '011401533'] as const
const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Frances'] as const
const lastNames = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth'] as const

const bankOf = (random: Random): Json =>
  new Map([
    ['routing_number', random.pick(routingNumbers)],
    ['account_number', random.digits(10)],
  ])

function personOf(random: Random): Json {
  const first = random.pick(firstNames)
  const last = random.pick(lastNames)
  return new Map([
    ['name', `${first} ${last}`],
    ['email', `${first}.${last}.${random.digits(6)}@example.com`.toLowerCase()],
    ['phone', `+49 30 ${random.digits(8)}`],
  ])
}

const ssnOf = (random: Random): string =>
  `${1 + random.integer(8)}${random.digits(2)}-${random.digits(2)}-${random.digits(4)}`

function metadataOf(slot: Slot, random: Random, isRare: boolean): Map<string, Json> | undefined {
  const pairs = new Map<string, Json>()
  if (slot.includes('half')) pairs.set(halfPair.name, halfPair.value)
  if (slot.includes('tenth')) pairs.set(tenthPair.name, tenthPair.value)
  if (isRare) pairs.set(rarePair.name, rarePair.value)
  if (slot.startsWith('bank')) pairs.set('order', `o-${random.digits(8)}`)
  return pairs.size === 0 ? undefined : pairs
}

function partsOf(slot: Slot, random: Random, isSmall: boolean): CreateTokenBody {
  if (slot === 'card half') return { type: 'card', data: cardOf(random), containers: ['/cards/'] }
  if (slot === 'card') return { type: 'card', data: cardOf(random) }
  if (slot.startsWith('bank')) return { type: 'bank', data: bankOf(random) }
  if (slot.startsWith('ssn')) return { type: 'social_security_number', data: ssnOf(random) }
  return {
    type: 'token',
    data: personOf(random),
    search_indexes: ['{{ data.email }}'],
    containers: [isSmall ? smallContainer.path : `/customers/c${random.integer(50)}/`],
  }
}

/** Yields one create request after the other. @param tokens a multiple of `blockTokens` */
export function* requestsOf(mix: Mix, tokens: number, random: Random): Generator<CreateTokenBody> {
  const counts = { free: 0, bank: 0 }
  const shares = { free: tokens / 5, bank: tokens / 10 }
  for (let block = 0; block < tokens / blockTokens; block += 1) {
    for (const slot of random.shuffled(slotsOf[mix])) {
      const isFree = slot.startsWith('free')
      const isBank = slot.startsWith('bank')
      const isSmall = isFree && isAmong(counts.free, shares.free, smallContainer.tokens)
      const isRare = isBank && isAmong(counts.bank, shares.bank, rareTokens)
      if (isFree) counts.free += 1
      if (isBank) counts.bank += 1
      const metadata = metadataOf(slot, random, isRare)
      yield { ...partsOf(slot, random, isSmall), ...(metadata === undefined ? {} : { metadata }) }
    }
  }
}
