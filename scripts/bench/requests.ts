/**
 * The requests of the scenarios, as plain data.
 * @module
 */
import { printJson } from '../../src/lib/json/json.ts'
import { cardOf, halfPair, tenthPair } from '../seed/contents.ts'
import { openRandom, type Random } from '../seed/random.ts'
import type { LoadRequest } from './load.ts'

/** More creates than this in a second are answered for cards that were created before. */
const createsPerSecond = 15_000

const cardBody = (random: Random): string => `{"type":"card","data":${printJson(cardOf(random))}}`

/** Other cards in each round. Each has exactly 8 terms: no metadata, a random id. */
export function createCards(key: string, round: number, seconds: number): readonly LoadRequest[] {
  const random = openRandom(1_000 + round)
  return Array.from({ length: createsPerSecond * seconds }, () => ({
    method: 'POST' as const,
    path: '/tokens',
    key,
    body: cardBody(random),
  }))
}

/** Bodies of so many cards each. */
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

/** 20 cards of half of all tokens. */
export const listCards = (key: string, page = 1): LoadRequest => ({
  method: 'GET',
  path: `/tokens?type=card&metadata.${halfPair.name}=${halfPair.value}&size=20&page=${page}`,
  key,
})

/** The tokens of a half that are of a tenth too. */
export const searchBoth = (key: string): LoadRequest => {
  const clause = ({ name, value }: typeof halfPair | typeof tenthPair) =>
    `metadata.${name}:${value}`
  const query = `${clause(halfPair)} AND ${clause(tenthPair)}`
  return { method: 'POST', path: '/tokens/search', key, body: JSON.stringify({ query, size: 20 }) }
}

/** How many tokens the caller may see, and the newest of them. */
export const countTokens = (key: string): LoadRequest => ({
  method: 'GET',
  path: '/tokens?size=1',
  key,
})

export interface ListAnswer {
  readonly pagination: { readonly total_items: number }
}
