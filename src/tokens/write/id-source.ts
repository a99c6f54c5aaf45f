/**
 * Ids that requests ask for: a text, or an expression on the data, and what none may carry.
 * @module
 */
import {
  digitsAt,
  digitsChanger,
  hidesDigits,
  type DigitsPlace,
} from '../../rules/hidden-digits.ts'
import type { Json } from '../../lib/json/json.ts'
import { outputContains } from '../../rules/mask.ts'
import { containsCardNumber } from '../../rules/clear-text.ts'
import type { TokenTypeDefinition } from '../../rules/token-types.ts'
import { maskHiddenDigitsMin, aliasRedrawsMax, idStepsMax } from '../../limits/limits.ts'
import { countDigits } from '../../lib/bytes.ts'
import type { Deps } from '../../deps.ts'
import { compileTemplate, type CompiledTemplate } from '../../language/expression/compile.ts'
import {
  assertAffordable,
  startRun,
  type Scope,
  scalarTextOf,
} from '../../language/expression/run.ts'
import type { StepMeter } from '../../lib/work.ts'
import { assertTokenId } from '../../rules/token-ids.ts'
import { ApiError, invalid } from '../../lib/errors.ts'

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

/*
 * Checks that the id from an expression carries nothing that is forbidden in ids.
 *
 * Source: contract section 7; hardening T28, H99.
 */

interface GivenId {
  readonly id: string
  /** The id for other data, had chance been the same; `undefined` when there is none. */
  readonly idOf: (data: Json) => string | undefined
}

function hidesPlace(data: Json, place: DigitsPlace, least: number, { idOf }: GivenId): boolean {
  const digits = digitsAt(data, place)
  if (digits === undefined) return true
  const wanted = Math.min(least, countDigits(digits))
  const change = digitsChanger(data, place)
  return hidesDigits(digits, wanted, other => idOf(change(other)))
}

function carriesNumber(
  { protectedNumber: place }: TokenTypeDefinition,
  data: Json,
  given: GivenId,
): boolean {
  if (place === undefined) return false
  const number = digitsAt(data, place)
  if (number !== undefined && outputContains(given.id, number)) return true
  return !hidesPlace(data, place, maskHiddenDigitsMin, given)
}

/** Unlike a number, a code may not show even its last digits. */
function carriesCode(
  { protectedCode: place }: TokenTypeDefinition,
  data: Json,
  given: GivenId,
): boolean {
  return place !== undefined && !hidesPlace(data, place, Infinity, given)
}

/**
 * By its type, in any form; and any card number that is written out, since data of type `token` may
 * hold one.
 */
function givesAway(
  guards: { readonly cardNumberGuard: boolean },
  type: TokenTypeDefinition,
  data: Json,
  given: GivenId,
): boolean {
  if (guards.cardNumberGuard && containsCardNumber(given.id)) return true
  return carriesNumber(type, data, given) || carriesCode(type, data, given)
}

/*
 * Source of such an id.
 *
 * Ids stand in addresses and logs, so no expression may carry the protected number into one.
 * Source: contract section 7; hardening T28, H99.
 */

type Impure = Pick<Deps, 'randomBytes' | 'settings'>

const path = 'id'

const onlyOnce =
  (id: string): IdSource =>
  attempt =>
    attempt === 0 ? { id, isDefault: false } : undefined

function idTextOf(value: Json): string {
  const text = scalarTextOf(value)
  if (text === undefined) throw invalid(path, 'expected an expression that yields a text')
  assertTokenId(text, path)
  return text
}

type RandomBytes = Deps['randomBytes']

/** Keeps what is drawn, so that a probe can be drawn alike. */
function recording(randomBytes: RandomBytes): {
  readonly draw: RandomBytes
  readonly drawAgain: () => RandomBytes
} {
  const drawn: Uint8Array[] = []
  return {
    draw: count => {
      // A copy: the source may use its memory again.
      const bytes = Uint8Array.from(randomBytes(count))
      drawn.push(bytes)
      return bytes
    },
    drawAgain: () => {
      let next = 0
      return count => drawn[next++] ?? randomBytes(count)
    },
  }
}

/** Work left for all draws of one id and their probes. */
interface Draws {
  stepsLeft: number
  readonly meter: StepMeter | undefined
}

function drawId(
  template: CompiledTemplate,
  data: Json,
  randomBytes: RandomBytes,
  draws: Draws,
): GivenId {
  const chance = recording(randomBytes)
  const { meter } = draws
  const evaluate = (scope: Scope): Json => {
    const run = startRun({ ...scope, meter })
    run.stepsLeft = Math.min(run.stepsLeft, draws.stepsLeft)
    const stepsBefore = run.stepsLeft
    try {
      return template.evaluate(run)
    } finally {
      draws.stepsLeft -= stepsBefore - run.stepsLeft
    }
  }
  const id = idTextOf(evaluate({ at: path, data, randomBytes: chance.draw }))
  const idOf = (other: Json): string | undefined => {
    try {
      return scalarTextOf(evaluate({ at: path, data: other, randomBytes: chance.drawAgain() }))
    } catch (thrown) {
      assertAffordable(meter)
      // A failure gives no id: an id that cannot be checked counts as revealing.
      if (thrown instanceof ApiError) return undefined
      throw thrown
    }
  }
  return { id, idOf }
}

/**
 * @param byDefault the id where no other one can be drawn
 * @param given what the request says; checked here, an alias by its first draw
 * @param data as the type stores it
 * @param meter counts what the expression does, at each draw
 * @throws ApiError `invalid_request` at `id`
 */
export function idSourceOf(
  deps: Impure,
  byDefault: () => DrawnId,
  given: string,
  type: TokenTypeDefinition,
  data: Json,
  meter?: StepMeter,
): IdSource {
  // A text that is no expression stays out of the cache of expressions.
  if (!given.includes('{{')) {
    assertTokenId(given, path)
    return onlyOnce(given)
  }
  const template = compileTemplate(given, path, 'id')
  const { randomBytes } = deps
  const draw = (): string => {
    // An alias may hold the number by chance: then another one is drawn.
    const draws: Draws = { stepsLeft: idStepsMax, meter }
    for (let more = template.isRandom ? aliasRedrawsMax : 0; more >= 0; more -= 1) {
      const given = drawId(template, data, randomBytes, draws)
      if (!givesAway(deps.settings, type, data, given)) return given.id
    }
    throw invalid(path, 'expected an id that does not hold the number which is to be protected')
  }
  const first = draw()
  if (!template.isRandom) return onlyOnce(first)
  return attempt => {
    if (attempt > aliasRedrawsMax) return byDefault()
    return { id: attempt === 0 ? first : draw(), isDefault: false }
  }
}
