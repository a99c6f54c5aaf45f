/**
 * Model of one tenant: plain Maps that the predictions change.
 *
 * Nothing is ever removed for its age: expired things are skipped, as the contract says.
 * @module
 */
import type { Expiry, Instants } from './instants.ts'
import { isObject, type Json } from './json.ts'

export const transforms = ['redact', 'mask', 'reveal'] as const
export type Transform = (typeof transforms)[number]

export interface Condition {
  readonly attribute: 'id' | 'container'
  readonly operator: 'equals' | 'starts_with'
  readonly value: string
}

export interface Rule {
  readonly description?: string
  readonly priority: number
  readonly container?: string
  readonly conditions?: readonly Condition[]
  readonly transform: Transform
  readonly permissions: readonly string[]
}

export interface Grants {
  readonly permissions: readonly string[]
  readonly rules: readonly Rule[]
}

/** Maker of a thing, and the last to change it. */
export interface Marks {
  readonly createdBy: string | undefined
  readonly createdAtMs: number
  readonly modifiedBy?: string
  readonly modifiedAtMs?: number
}

export interface ModelToken extends Marks {
  readonly id: string
  readonly type: string
  readonly data: Json
  readonly mask: Json | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly container: string
  readonly indexes: readonly string[]
  readonly fingerprintExpression: string
  readonly expiry: Expiry | undefined
  /** Time at which the code in its data ends; from then on it is gone. */
  readonly codeEndsMs: number | undefined
  /** True if deduplication is on; a create or an update turns it on and off. */
  readonly deduplicates: boolean
  /** Grows with every creation: lists are by it, newest first. */
  readonly order: number
}

export type ApplicationType = 'private' | 'public' | 'management'

export interface ModelApplication extends Marks, Grants {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly type: ApplicationType
  readonly expiry: Expiry | undefined
  /** End of its key, if that comes before the end of the application. */
  readonly keyEndsMs: number | undefined
  readonly order: number
}

export interface ModelSession {
  readonly key: string
  readonly nonce: string
  readonly applicationId: string
  /** The key of its creator when it was created; the session ends with that. */
  readonly creatorKey: string | undefined
  readonly expiresAtMs: number
  /** `undefined` until it is authorized. */
  readonly grants: Grants | undefined
  /** Application that authorized it, and the key that it used. */
  readonly authorizer?: { readonly id: string; readonly key: string | undefined }
}

interface Walk {
  readonly cursor: string
  /** Question of a list or search, with its whole text. */
  readonly question: string
  readonly below: number
}

export interface Model {
  nowMs: number
  readonly tenantId: string
  readonly tokens: Map<string, ModelToken>
  readonly applications: Map<string, ModelApplication>
  /** By nonce. */
  readonly sessions: Map<string, ModelSession>
  /** Every key that was ever shown, live or dead, in order; no key is shown twice. */
  readonly keys: string[]
  /** Server's fingerprint, by the fingerprinted text. */
  readonly fingerprints: Map<string, string>
  readonly instants: Instants
  /** Every cursor that was given: for which question, and what it comes after. */
  readonly cursors: Walk[]
  nextOrder: number
}

export const emptyModel = (tenantId: string, nowMs: number): Model => ({
  nowMs,
  tenantId,
  tokens: new Map(),
  applications: new Map(),
  sessions: new Map(),
  keys: [],
  fingerprints: new Map(),
  instants: new Map(),
  cursors: [],
  nextOrder: 0,
})

export const takeOrder = (model: Model): number => (model.nextOrder += 1)

interface Expiring {
  readonly expiry: Expiry | undefined
}

/** It is gone from the very instant on (contract section 10). */
const isLive = (model: Model, { expiry }: Expiring): boolean =>
  expiry === undefined || expiry.ms > model.nowMs

const findLive = <T extends Expiring>(
  model: Model,
  things: ReadonlyMap<string, T>,
  id: string,
): T | undefined => {
  const thing = things.get(id)
  return thing !== undefined && isLive(model, thing) ? thing : undefined
}

export const findToken = (model: Model, id: string) => findLive(model, model.tokens, id)

/** Application ids are UUIDs, whose letters may come in either case. */
export const findApplication = (model: Model, id: string) =>
  findLive(model, model.applications, id.toLowerCase())

const newestFirst = <T extends { readonly order: number }>(things: readonly T[]): T[] =>
  things.toSorted((a, b) => b.order - a.order)

export const liveTokens = (model: Model): ModelToken[] =>
  newestFirst([...model.tokens.values()].filter(token => isLive(model, token)))

export const liveApplications = (model: Model): ModelApplication[] =>
  newestFirst([...model.applications.values()].filter(one => isLive(model, one)))

/** Returns the end of its key: its own, or that of the application. */
export const keyEndOf = ({ expiry, keyEndsMs }: ModelApplication): number =>
  Math.min(expiry?.ms ?? Infinity, keyEndsMs ?? Infinity)

const hasKey = (model: Model, id: string, key: string | undefined): boolean => {
  const application = findApplication(model, id)
  return application !== undefined && application.key === key && keyEndOf(application) > model.nowMs
}

/** A session ends at its own time, and with the keys of its creator and its authorizer. */
export const isStanding = (model: Model, session: ModelSession): boolean =>
  session.expiresAtMs > model.nowMs &&
  hasKey(model, session.applicationId, session.creatorKey) &&
  (session.authorizer === undefined || hasKey(model, session.authorizer.id, session.authorizer.key))

export const showMarks = (
  { createdBy, createdAtMs, modifiedBy, modifiedAtMs }: Marks,
  show: (ms: number) => string,
) => ({
  created_by: createdBy,
  created_at: show(createdAtMs),
  modified_by: modifiedBy,
  modified_at: modifiedAtMs === undefined ? undefined : show(modifiedAtMs),
})

/** Returns the data without a code that ends by itself. */
export function lastingData({ data, codeEndsMs }: Pick<ModelToken, 'data' | 'codeEndsMs'>): Json {
  if (codeEndsMs === undefined || !isObject(data)) return data
  const { cvc: _, ...others } = data
  return others
}

export const dataNow = (model: Model, token: ModelToken): Json =>
  (token.codeEndsMs ?? Infinity) > model.nowMs ? token.data : lastingData(token)
