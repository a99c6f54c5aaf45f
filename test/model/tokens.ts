/**
 * Expected answers to operations on one token. Source: contract sections 2, 3, 7 to 11.
 *
 * The predictions read only the server's own choices from an answer: ids and fingerprints.
 * @module
 */
import { admit, decide, failed, isRefused, type Caller, type Expected } from './access.ts'
import { composeChanged, composeNew, isPatch, type Composed } from './compose-token.ts'
import { evaluate, isExpression } from './expressions.ts'
import { isObject, type JsonObject } from './json.ts'
import { mayMask, mayRemask } from './masks.ts'
import {
  dataNow,
  findToken,
  liveTokens,
  takeOrder,
  type Grants,
  type Model,
  type ModelToken,
  type Transform,
} from './state.ts'
import { contentOf, shownData, viewBare, viewToken } from './token-view.ts'
import { protectedDigits } from './token-types.ts'

/** The body of an answer, for what the server chooses. */
export type Chosen = Readonly<Record<string, unknown>>

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A UUID that was never given before, or a text that no answer can equal; empty for a failure. */
export function freshId(chosen: unknown, taken: ReadonlyMap<string, unknown>): string {
  if (typeof chosen !== 'string') return ''
  return uuid.test(chosen) && !taken.has(chosen) ? chosen : 'a fresh UUID'
}

const fingerprintShape = /^[1-9A-HJ-NP-Za-km-z]{44}$/

/** New content takes the fingerprint of the answer, unless other content has that already. */
function learnFingerprint(model: Model, token: ModelToken, chosen: Chosen): void {
  const content = contentOf(token)
  const { fingerprint: text } = chosen
  if (model.fingerprints.has(content) || typeof text !== 'string') return
  const isNew = ![...model.fingerprints.values()].includes(text) && fingerprintShape.test(text)
  model.fingerprints.set(content, isNew ? text : 'a fingerprint of its own')
}

const refusedInIds = /[#/\\+?[\]|&=%<>{}^\p{Cc}]/u

const isId = (id: unknown): id is string =>
  typeof id === 'string' && [...id].length >= 3 && [...id].length <= 400 && !refusedInIds.test(id)

/**
 * Predicts an id: a text is itself, and an expression gives some text that does not hold the
 * protected number whole.
 */
function idOf(given: unknown, { type, data }: Composed): string | undefined {
  if (typeof given !== 'string' || !given.includes('{{')) return isId(given) ? given : undefined
  if (!isExpression(given)) return undefined
  const value = evaluate(given, { data }) ?? null
  const id = typeof value === 'object' ? '' : String(value)
  const number = protectedDigits(type, data)
  const isToldBy = number !== undefined && id.replaceAll(/[^0-9]/g, '').includes(number)
  return isId(id) && !isToldBy ? id : undefined
}

/** True if the caller may create there, and may read the token or has created it. */
const isInReach = (caller: Caller, token: ModelToken): boolean =>
  decide(caller, 'token:create', token) !== undefined &&
  (decide(caller, 'token:read', token) !== undefined || token.createdBy === caller.applicationId)

const equalTokens = (model: Model, caller: Caller, token: ModelToken): ModelToken[] =>
  liveTokens(model).filter(
    each => each.id !== token.id && contentOf(each) === contentOf(token) && isInReach(caller, each),
  )

function answerEqual(model: Model, caller: Caller, equals: readonly ModelToken[]) {
  const [token] = equals.toSorted((a, b) => a.order - b.order)
  if (token === undefined) throw new Error('there is an equal token')
  const transform = decide(caller, 'token:read', token)
  const extras = { deduplicated: true }
  const json =
    transform === undefined
      ? { ...viewBare(model, token, decide(caller, 'token:create', token)), _extras: extras }
      : viewToken(model, token, atMostMask(transform), extras)
  return { status: 201, json }
}

function newToken(model: Model, caller: Caller, id: string, composed: Composed): ModelToken {
  const { applicationId: createdBy } = caller
  return { id, ...composed, createdBy, createdAtMs: model.nowMs, order: 0 }
}

export function createToken(
  model: Model,
  key: string | undefined,
  body: JsonObject,
  chosen: Chosen,
): Expected {
  const caller = admit(model, key, 'token:create')
  if (isRefused(caller)) return caller
  const composed = composeNew(model, body)
  if (composed === undefined) return failed(400)
  const given = body['id'] ?? undefined
  const id = given === undefined ? freshId(chosen['id'], model.tokens) : idOf(given, composed)
  if (id === undefined) return failed(400)
  const token = newToken(model, caller, id, composed)
  const transform = decide(caller, 'token:create', token)
  if (transform === undefined || !mayMask(transform, token)) return failed(403)
  const equals = token.deduplicates ? equalTokens(model, caller, { ...token, id: '' }) : []
  if (equals.length > 0) return answerEqual(model, caller, equals)
  if (findToken(model, id) !== undefined) return failed(409)
  learnFingerprint(model, token, chosen)
  model.tokens.set(id, { ...token, order: takeOrder(model) })
  const extras = token.deduplicates ? { deduplicated: false } : undefined
  return { status: 201, json: viewToken(model, token, atMostMask(transform), extras) }
}

const atMostMask = (transform: 'redact' | 'mask' | 'reveal') =>
  transform === 'reveal' ? 'mask' : transform

export function getToken(model: Model, key: string | undefined, id: string): Expected {
  const caller = admit(model, key, 'token:read')
  if (isRefused(caller)) return caller
  const token = findToken(model, id)
  const transform = token && decide(caller, 'token:read', token)
  if (transform === undefined || token === undefined) return failed(404)
  return { status: 200, json: viewToken(model, token, transform) }
}

/** Token on which any patch can be tried. */
const plainToken: ModelToken = {
  id: 'plain',
  type: 'token',
  data: { a: 1 },
  mask: undefined,
  metadata: {},
  container: '/',
  indexes: [],
  fingerprintExpression: '{{ data | stringify }}',
  expiry: undefined,
  codeEndsMs: undefined,
  deduplicates: false,
  createdBy: undefined,
  createdAtMs: 0,
  order: 0,
}

/** Tells if the answer names an equal token, and if it must leave out the content for it. */
function equalityOf(model: Model, caller: Caller, token: ModelToken) {
  if (!token.deduplicates) return { extras: undefined, hides: false }
  const equals = equalTokens(model, caller, token)
  const hides = equals.every(each => decide(caller, 'token:read', each) === undefined)
  return { extras: { deduplicated: equals.length > 0 }, hides: equals.length > 0 && hides }
}

const ranks = [undefined, 'redact', 'mask', 'reveal']

/** Returns true if these grants see more, by any permission, of a token that moves. */
const seesMore = (grants: Grants, from: ModelToken, to: ModelToken): boolean =>
  ['token:read', 'token:search', 'token:use', 'token:update'].some(permission => {
    const [before, after] = [from, to].map(at => ranks.indexOf(decide(grants, permission, at)))
    return Number(after) > Number(before)
  })

/** A move never shows more to its caller, nor to those behind a session (contract section 9). */
const isMovedUp = (caller: Caller, from: ModelToken, to: ModelToken): boolean =>
  [caller, ...caller.behind].some(grants => seesMore(grants, from, to))

/** A caller does not see what a mask hides from it either, unless the patch replaces it. */
const isHiddenFrom = (transform: Transform, { data }: JsonObject): boolean =>
  transform === 'redact' || (transform === 'mask' && (data === undefined || isObject(data)))

export function patchToken(
  model: Model,
  key: string | undefined,
  id: string,
  patch: JsonObject,
  chosen: Chosen,
): Expected {
  const caller = admit(model, key, 'token:update')
  if (isRefused(caller)) return caller
  if (!isPatch(patch)) return failed(400)
  const standing = findToken(model, id)
  const transform = standing && decide(caller, 'token:update', standing)
  // Faults of the patch itself are told first; faults for one token alone are not.
  if (transform === undefined || standing === undefined) {
    return failed(404, composeChanged(model, plainToken, patch) === undefined ? 400 : 404)
  }
  const composed = composeChanged(model, standing, patch, isHiddenFrom(transform, patch))
  // A caller that does not see all is refused other expressions before any is evaluated.
  if (composed === undefined) return failed(400, transform === 'reveal' ? 400 : 403)
  const token: ModelToken = {
    ...standing,
    ...composed,
    modifiedBy: caller.applicationId,
    modifiedAtMs: model.nowMs,
  }
  const entered = decide(caller, 'token:update', token)
  if (entered === undefined || isMovedUp(caller, standing, token)) return failed(403)
  const before = { ...standing, data: dataNow(model, standing) }
  if (!mayRemask(transform, before, token)) return failed(403)
  learnFingerprint(model, token, chosen)
  model.tokens.set(id, token)
  const { extras, hides } = equalityOf(model, caller, token)
  return { status: 200, json: viewToken(model, token, atMostMask(entered), extras, hides) }
}

export function deleteToken(model: Model, key: string | undefined, id: string): Expected {
  const caller = admit(model, key, 'token:delete')
  if (isRefused(caller)) return caller
  const token = findToken(model, id)
  if (token === undefined || decide(caller, 'token:delete', token) === undefined) return failed(404)
  model.tokens.delete(id)
  return { status: 204 }
}

/**
 * One reference in a list of one. A token that may not be used is a mistake of the request.
 * decision: blanks around the id of a reference are not part of it.
 */
export function useToken(model: Model, key: string | undefined, id: string): Expected {
  const caller = admit(model, key, 'token:use')
  if (isRefused(caller)) return caller
  const token = findToken(model, id.trim())
  const transform = token && decide(caller, 'token:use', token)
  const data = token && transform && shownData(model, token, transform)
  return data === undefined ? failed(400) : { status: 200, json: [data] }
}
