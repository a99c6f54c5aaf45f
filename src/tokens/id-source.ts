/**
 * Where the id of a new token comes from: chance, a text, or an expression on its data.
 *
 * Ids stand in addresses and logs, so no expression may carry the protected number into one.
 * Source: contract section 7; hardening T28, H99.
 * @module
 */
import { uuidOf } from '../bytes.ts'
import type { Deps } from '../deps.ts'
import { compileTemplate } from '../domain/expression/compile.ts'
import { evaluateTemplate } from '../domain/expression/evaluate.ts'
import { scalarTextOf } from '../domain/expression/values.ts'
import type { Json } from '../domain/json.ts'
import { outputContains } from '../domain/mask.ts'
import { containsCardNumber } from '../domain/pan-guard.ts'
import { assertTokenId } from '../domain/token-ids.ts'
import type { TokenType } from '../domain/token-types.ts'
import { invalid } from '../errors.ts'
import { aliasRedrawsMax } from '../limits.ts'

export interface DrawnId {
  readonly id: string
  /** A default UUID: nobody chose it. */
  readonly isDefault: boolean
}

/**
 * The id for an attempt, counted from 0: each one after a collision. `undefined` when there is no
 * other id to offer.
 */
export type IdSource = (attempt: number) => DrawnId | undefined

type Impure = Pick<Deps, 'randomBytes' | 'settings'>

const path = 'id'

const defaultId = (deps: Impure): DrawnId => ({
  id: uuidOf(deps.randomBytes(16)),
  isDefault: true,
})

const onlyOnce =
  (id: string): IdSource =>
  attempt =>
    attempt === 0 ? { id, isDefault: false } : undefined

function textOf(value: Json): string {
  const text = scalarTextOf(value)
  if (text === undefined) throw invalid(path, 'expected an expression that yields a text')
  assertTokenId(text, path)
  return text
}

/** The number by its type; any card number too, since data of type `token` may hold one. */
function givesAway(deps: Impure, type: TokenType, data: Json, id: string): boolean {
  const number = type.protectedNumber?.(data)
  if (typeof number === 'string' && outputContains(id, number)) return true
  return deps.settings.cardNumberGuard && containsCardNumber(id)
}

/**
 * @param given what the request says; checked here, an alias by its first draw
 * @param data as the type stores it
 * @throws ApiError `invalid_request` at `id`
 */
export function idSourceOf(
  deps: Impure,
  given: string | null | undefined,
  type: TokenType,
  data: Json,
): IdSource {
  if (given === undefined || given === null) return () => defaultId(deps)
  // A text that is no expression stays out of the cache of expressions.
  if (!given.includes('{{')) {
    assertTokenId(given, path)
    return onlyOnce(given)
  }
  const template = compileTemplate(given, path, 'id')
  const { randomBytes } = deps
  const draw = (): string => {
    // An alias may hold the number by chance: then another one is drawn.
    for (let draws = template.isRandom ? aliasRedrawsMax : 0; draws >= 0; draws -= 1) {
      const id = textOf(evaluateTemplate(template, { at: path, data, randomBytes }))
      if (!givesAway(deps, type, data, id)) return id
    }
    throw invalid(path, 'expected an id that does not hold the number which is to be protected')
  }
  const first = draw()
  if (!template.isRandom) return onlyOnce(first)
  return attempt => {
    if (attempt > aliasRedrawsMax) return defaultId(deps)
    return { id: attempt === 0 ? first : draw(), isDefault: false }
  }
}
