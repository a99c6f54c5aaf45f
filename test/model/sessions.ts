/**
 * Expected answers to operations on sessions. Source: contract sections 2, 3, 11 and 12.
 * @module
 */
import { callerOf, failed, holdsAnywhere, tokenPermissions, type Expected } from './access.ts'
import { freshKey, isContainer, isRule, readGrants } from './applications.ts'
import { futureExpiry, showUtc } from './instants.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import { findApplication, isStanding, keyEndOf, type Model } from './state.ts'
import type { Chosen } from './tokens.ts'

const sessionMs = 3 * 60 * 1_000
const sessionMsMax = 24 * 60 * 60 * 1_000
const sessionKeyShape = /^key_sess_[1-9A-HJ-NP-Za-km-z]{22}$/
const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const nonceShape = /^[1-9A-HJ-NP-Za-km-z]{22}$/

export function createSession(model: Model, key: string | undefined, chosen: Chosen): Expected {
  const caller = callerOf(model, key)
  if (caller === undefined) return failed(401)
  if (caller.type !== 'public') return failed(403)
  const sessionKey = freshKey(model, chosen['session_key'], sessionKeyShape)
  const nonce = String(chosen['nonce'])
  const isFresh = nonceShape.test(nonce) && !model.sessions.has(nonce)
  const creator = findApplication(model, caller.applicationId)
  const keyEndMs = creator === undefined ? Infinity : keyEndOf(creator)
  const expiresAtMs = Math.min(model.nowMs + sessionMs, keyEndMs)
  const id = String(chosen['id'])
  const shown = {
    id: uuidShape.test(id) ? id : 'a random id',
    session_key: sessionKey,
    nonce: isFresh ? nonce : 'a fresh nonce',
    expires_at: showUtc(expiresAtMs),
  }
  const { applicationId } = caller
  model.sessions.set(nonce, {
    key: sessionKey,
    nonce,
    applicationId,
    creatorKey: creator?.key,
    expiresAtMs,
    grants: undefined,
  })
  return { status: 201, json: shown }
}

const isCondition = (condition: Json): boolean =>
  isObject(condition) &&
  ['id', 'container'].includes(String(condition['attribute'])) &&
  ['equals', 'starts_with'].includes(String(condition['operator'])) &&
  typeof condition['value'] === 'string'

const areConditions = (given: Json | undefined): boolean =>
  Array.isArray(given) && given.length > 0 && given.every(isCondition)

/** Conditions or a container, never both. */
const isSessionRule = (rule: Json): boolean => {
  if (!isRule('session', rule)) return false
  const { container, conditions } = rule
  if (conditions === undefined) return isContainer(container)
  return container === undefined && areConditions(conditions)
}

const nonceOf = ({ nonce }: JsonObject): string | undefined =>
  typeof nonce === 'string' ? nonce : undefined

/** `undefined` for what is a 400; else the instant, or nothing when none was asked for. */
function readExpiry(model: Model, given: Json | undefined): { readonly ms?: number } | undefined {
  if (given === undefined || given === null) return {}
  if (typeof given !== 'string') return undefined
  const expiry = futureExpiry(model.instants, given, model.nowMs)
  const isFit = expiry !== undefined && expiry.ms <= model.nowMs + sessionMsMax
  return isFit ? { ms: expiry.ms } : undefined
}

export function authorizeSession(
  model: Model,
  key: string | undefined,
  body: JsonObject,
): Expected {
  const caller = callerOf(model, key)
  if (caller === undefined) return failed(401)
  const isAuthorizer =
    caller.type === 'private' && tokenPermissions.some(each => holdsAnywhere(caller, each))
  if (!isAuthorizer) return failed(403)
  const nonce = nonceOf(body)
  const grants = readGrants('session', body, isSessionRule)
  const expiry = readExpiry(model, body['expires_at'])
  if (nonce === undefined || grants === undefined || expiry === undefined) return failed(400)
  const session = model.sessions.get(nonce)
  if (session === undefined || !isStanding(model, session)) return failed(404)
  if (session.grants !== undefined) return failed(409)
  const { applicationId: id } = caller
  const authorizer = { id, key: findApplication(model, id)?.key }
  const expiresAtMs = expiry.ms ?? session.expiresAtMs
  model.sessions.set(nonce, { ...session, grants, authorizer, expiresAtMs })
  return { status: 200 }
}
