/**
 * Callers of a command: a live application, any application that ever was, or none.
 * @module
 */
import fc from 'fast-check'
import { pickOf, picks } from './arbitraries.ts'
import { isStanding, liveApplications, type ApplicationType, type Model } from './state.ts'

/** `first` is the oldest private application, which at first sees all. */
type Kind = ApplicationType | 'first' | 'session' | 'any' | 'none' | 'unknown'

export interface CallerInput {
  readonly kind: Kind
  readonly pick: number
}

const noWeights: Readonly<Record<Kind, number>> = {
  first: 1,
  private: 1,
  public: 1,
  management: 1,
  session: 1,
  any: 2,
  none: 1,
  unknown: 1,
}

/** Draws callers, mostly of the kinds that may do it. */
export function callersOf(usual: Partial<Record<Kind, number>>): fc.Arbitrary<CallerInput> {
  const weights = { ...noWeights, ...usual }
  const kinds = Object.entries(weights).map(([kind, weight]) => ({
    arbitrary: fc.constant(kind as Kind),
    weight,
  }))
  return fc.record({ kind: fc.oneof(...kinds), pick: picks })
}

export const tokenCallers = callersOf({ first: 26, private: 24, session: 15, public: 6 })
export const managers = callersOf({ management: 60 })
export const sessionCreators = callersOf({ public: 60 })
export const sessionAuthorizers = callersOf({ first: 30, private: 30 })

/** While there is no session, a private application serves. */
function sessionKeys(model: Model): string[] {
  const sessions = [...model.sessions.values()].filter(one => isStanding(model, one))
  const authorized = sessions.filter(({ grants }) => grants !== undefined)
  const keys = [...authorized, ...sessions].map(({ key }) => key)
  return keys.length > 0 ? keys : applicationKeys(model, 'private')
}

/** Oldest first, so that small numbers, to which runs shrink, stand for the beginning. */
const applicationKeys = (model: Model, type: ApplicationType): string[] =>
  liveApplications(model)
    .filter(one => one.type === type)
    .map(({ key }) => key)
    .reverse()

/** The key to send, or none. */
export function keyOf(model: Model, { kind, pick }: CallerInput): string | undefined {
  if (kind === 'none') return undefined
  if (kind === 'unknown') return 'key_1111111111111111111111'
  if (kind === 'any') return pickOf(model.keys, pick)
  if (kind === 'first') return applicationKeys(model, 'private')[0]
  if (kind === 'session') return pickOf(sessionKeys(model), pick)
  return pickOf(applicationKeys(model, kind), pick)
}
