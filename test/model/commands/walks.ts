/**
 * Walks by cursor: begun, continued later, when tokens have come and gone, or with another
 * question. Source: contract section 4.
 * @module
 */
import fc from 'fast-check'
import { pickOf, picks } from '../arbitraries.ts'
import type { Part } from '../lists.ts'
import { findToken, type Model } from '../state.ts'
import type { Answer } from '../../support/vault.ts'

export const walks = fc.record({
  how: fc.nat({ max: 9 }),
  pick: picks,
  size: fc.constantFrom(1, 2),
})

type WalkInput = typeof walks extends fc.Arbitrary<infer Input> ? Input : never

/** The cursor to send: mostly one of this question; now and then of another, or none that is. */
export function startOf(model: Model, question: string, { how, pick }: WalkInput): string {
  if (how < 2) return ''
  if (how === 8) return 'AAAA'
  const own = model.cursors.filter(walk => how === 9 || walk.question === question)
  return pickOf(own, pick)?.cursor ?? ''
}

const nextOf = ({ body }: Answer): unknown => Object(body['pagination'])['next']

/** Finds the stretch of a cursor; the next cursor is taken from the answer and can be any text. */
export function stretchOf(
  model: Model,
  question: string,
  start: string,
  size: number,
  answer: Answer,
): Part {
  const known = model.cursors.find(walk => walk.cursor === start)
  const isRight = start === '' || known?.question === question
  const next = typeof nextOf(answer) === 'string' ? nextOf(answer) : 'a cursor'
  return isRight ? { below: known?.below ?? Infinity, size, next } : undefined
}

/** The last token that was shown is what the next stretch comes after. */
export function keepCursor(model: Model, question: string, part: Part, answer: Answer): void {
  const cursor = nextOf(answer)
  const shown = answer.body['data']
  if (part === undefined || typeof cursor !== 'string' || !Array.isArray(shown)) return
  const last = findToken(model, String(Object(shown.at(-1))['id']))
  if (last !== undefined) model.cursors.push({ cursor, question, below: last.order })
}
