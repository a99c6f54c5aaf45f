/**
 * The requests of the scenarios, as plain data.
 * @module
 */
import { printJson } from '../../src/lib/json/json.ts'
import { cardOf, halfPair, tenthPair } from '../seed/contents.ts'
import { openRandom, type Random } from '../seed/random.ts'
import type { LoadRequest } from './load.ts'

/** If a server is faster than this, some creates repeat earlier cards. */
const createsPerSecond = 15_000

const cardBody = (random: Random): string => `{"type":"card","data":${printJson(cardOf(random))}}`

/** New cards for each round. Each has exactly 8 terms: no metadata, a random id. */
export function createCards(key: string, round: number, seconds: number): readonly LoadRequest[] {
  const random = openRandom(1_000 + round)
  return Array.from({ length: createsPerSecond * seconds }, () => ({
    method: 'POST' as const,
    path: '/tokens',
    key,
    body: cardBody(random),
  }))
}

/** Bodies with that many cards each. */
export function tokenizeCards(
  key: string,
  round: number,
  size: { readonly bodies: number; readonly items: number },
): readonly LoadRequest[] {
  const random = openRandom(2_000 + round)
  const items = () => Array.from({ length: size.items }, () => cardBody(random)).join(',')
  return Array.from({ length: size.bodies }, () => ({
    method: 'POST' as const,
    path: '/tokenize',
    key,
    body: `[${items()}]`,
  }))
}

export const readTokens = (key: string, ids: readonly string[]): readonly LoadRequest[] =>
  ids.map(id => ({ method: 'GET', path: `/tokens/${id}`, key }))

/** Lists 20 cards, of those with the pair that half of all tokens have. */
export const listCards = (key: string, page = 1): LoadRequest => ({
  method: 'GET',
  path: `/tokens?type=card&metadata.${halfPair.name}=${halfPair.value}&size=20&page=${page}`,
  key,
})

/** Finds tokens that belong to both a half and a tenth of all. */
export const searchBoth = (key: string): LoadRequest => {
  const clause = ({ name, value }: typeof halfPair | typeof tenthPair) =>
    `metadata.${name}:${value}`
  const query = `${clause(halfPair)} AND ${clause(tenthPair)}`
  return { method: 'POST', path: '/tokens/search', key, body: JSON.stringify({ query, size: 20 }) }
}

/** Returns the number of tokens that the caller may see, and the newest of them. */
export const countTokens = (key: string): LoadRequest => ({
  method: 'GET',
  path: '/tokens?size=1',
  key,
})

export interface ListAnswer {
  readonly pagination: { readonly total_items: number }
}
