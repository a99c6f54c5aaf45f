/**
 * Expected answers to operations on applications. Source: contract sections 2, 3, 11 and 13;
 * hardening H139 and H140 for what a management application may hand on.
 * @module
 */
import type { Grants as RealGrants } from '../../src/rules/access.ts'
import { isWithin } from '../../src/rules/grants.ts'
import {
  admit,
  callerOf,
  failed,
  isRefused,
  permissionsOf,
  type Caller,
  type Expected,
} from './access.ts'
import { futureExpiry, showUtc } from './instants.ts'
import { isObject, type Json, type JsonObject } from './json.ts'
import {
  findApplication,
  keyEndOf,
  liveApplications,
  showMarks,
  takeOrder,
  transforms,
  type ApplicationType,
  type Grants,
  type Model,
  type ModelApplication,
  type Rule,
} from './state.ts'
import { freshId, type Chosen } from './tokens.ts'

const keyShape = /^key_[1-9A-HJ-NP-Za-km-z]{22}$/

/** A key that was never shown before, or a text that no answer can equal. */
export function freshKey(model: Model, chosen: unknown, shape = keyShape): string {
  const isFresh = typeof chosen === 'string' && shape.test(chosen) && !model.keys.includes(chosen)
  if (isFresh) model.keys.push(chosen)
  return isFresh ? chosen : 'a fresh key'
}

const isHoldable = (type: keyof typeof permissionsOf, given: Json | undefined): boolean =>
  Array.isArray(given) && given.every(permission => permissionsOf[type].includes(permission))

const containerShape = /^\/(?:[A-Za-z0-9_-]+\/)*$/

export const isContainer = (given: Json | undefined): given is string =>
  typeof given === 'string' && containerShape.test(given)

/** Returns true for a well-formed rule, whatever its scope. */
export const isRule = (type: keyof typeof permissionsOf, rule: Json): rule is JsonObject =>
  isObject(rule) &&
  Number.isInteger(rule['priority']) &&
  Number(rule['priority']) >= 1 &&
  (transforms as readonly (Json | undefined)[]).includes(rule['transform']) &&
  Array.isArray(rule['permissions']) &&
  rule['permissions'].length > 0 &&
  isHoldable(type, rule['permissions'])

const isApplicationRule = (type: ApplicationType, rule: Json): boolean =>
  isRule(type, rule) && isContainer(rule['container']) && rule['conditions'] === undefined

/** Reads grants: at least one of the two, no two rules of one priority, no rules for management. */
export function readGrants(
  type: keyof typeof permissionsOf,
  body: JsonObject,
  isFitRule: (rule: Json) => boolean,
): Grants | undefined {
  const { permissions = [], rules = [] } = body
  if (!isHoldable(type, permissions) || !Array.isArray(rules)) return undefined
  const given = rules as readonly Json[]
  if (!given.every(isFitRule) || (type === 'management' && given.length > 0)) return undefined
  const fit = given as unknown as readonly Rule[]
  const isEmpty = (permissions as readonly Json[]).length === 0 && fit.length === 0
  const arePrioritiesUnique = new Set(fit.map(rule => rule.priority)).size === fit.length
  if (isEmpty || !arePrioritiesUnique) return undefined
  const normal = fit.map(rule =>
    rule.container === undefined ? rule : { ...rule, container: rule.container.toLowerCase() },
  )
  const sorted = normal.toSorted((a, b) => a.priority - b.priority)
  return { permissions: permissions as readonly string[], rules: sorted }
}

const isName = (name: Json | undefined): name is string =>
  typeof name === 'string' && name.length >= 1 && name.length <= 200

const view = (model: Model, application: ModelApplication, key?: string) => ({
  id: application.id,
  tenant_id: model.tenantId,
  name: application.name,
  key,
  type: application.type,
  permissions: application.permissions,
  rules: application.rules,
  ...showMarks(application, showUtc),
  expires_at: application.expiry?.shown,
})

/** No management application hands on what it lacks. */
const mayHandOn = (caller: Caller, type: ApplicationType, permissions: readonly string[]) =>
  type !== 'management' || permissions.every(each => caller.permissions.includes(each))

/** Returns grants as services keep them: in ascending priority, containers in lower case. */
const realOf = ({ permissions, rules }: Grants): RealGrants => ({
  permissions: permissions as RealGrants['permissions'],
  rules: rules.toSorted((a, b) => a.priority - b.priority) as unknown as RealGrants['rules'],
})

/**
 * A caller that may only update takes over no key that may see data, and widens no grants (section
 * 11). Grants that are provably no wider have laws of their own: property/grant-limit.
 */
const mayArm = (caller: Caller, type: ApplicationType) =>
  type === 'management' || caller.permissions.includes('application:create')

/** No key makes one that ends later; `undefined` for a key that does not end. */
function latestEnd(model: Model, { applicationId }: Caller): number | undefined {
  const maker = findApplication(model, applicationId)
  const endMs = maker === undefined ? Infinity : keyEndOf(maker)
  return endMs === Infinity ? undefined : endMs
}

const applicationTypes: readonly (Json | undefined)[] = ['private', 'public', 'management']

export function createApplication(
  model: Model,
  key: string | undefined,
  body: JsonObject,
  chosen: Chosen,
): Expected {
  const caller = admit(model, key, 'application:create')
  if (isRefused(caller)) return caller
  const { name, type: given, expires_at: expires } = body
  if (!applicationTypes.includes(given) || !isName(name)) return failed(400)
  const type = given as ApplicationType
  const grants = readGrants(type, body, rule => isApplicationRule(type, rule))
  const expiry =
    typeof expires === 'string' ? futureExpiry(model.instants, expires, model.nowMs) : undefined
  const isExpiryWrong = (expires ?? null) !== null && expiry === undefined
  const latestMs = latestEnd(model, caller)
  const isTooLate = (expiry?.ms ?? 0) > (latestMs ?? Infinity)
  if (grants === undefined || isExpiryWrong || isTooLate) return failed(400)
  if (!mayHandOn(caller, type, grants.permissions)) return failed(403)
  const application: ModelApplication = {
    id: freshId(chosen['id'], model.applications),
    key: freshKey(model, chosen['key']),
    name,
    type,
    ...grants,
    createdBy: caller.applicationId,
    createdAtMs: model.nowMs,
    expiry,
    keyEndsMs: expiry === undefined ? latestMs : undefined,
    order: takeOrder(model),
  }
  model.applications.set(application.id, application)
  return { status: 201, json: view(model, application, application.key) }
}

export function getApplication(model: Model, key: string | undefined, id: string): Expected {
  const { type, applicationId } = callerOf(model, key) ?? {}
  if (type !== 'session' && applicationId === id.toLowerCase()) return getOwnApplication(model, key)
  const caller = admit(model, key, 'application:read')
  if (isRefused(caller)) return caller
  const application = findApplication(model, id)
  return application === undefined ? failed(404) : { status: 200, json: view(model, application) }
}

/** Every application may read itself; a session may not (contract section 13). */
export function getOwnApplication(model: Model, key: string | undefined): Expected {
  const caller = callerOf(model, key)
  if (caller === undefined) return failed(401)
  const own = findApplication(model, caller.applicationId)
  if (caller.type === 'session' || own === undefined) return failed(403)
  return { status: 200, json: view(model, own) }
}

const isManager = ({ type, permissions }: Pick<ModelApplication, 'type' | 'permissions'>) =>
  type === 'management' && permissions.includes('application:create')

/**
 * Nobody could get back in without a live management application that can create others.
 * decision: one that expires, or whose key does, does not count, since it leaves nobody behind.
 */
const isLastManager = (model: Model, leaving: ModelApplication): boolean =>
  isManager(leaving) &&
  liveApplications(model).every(
    each => each.id === leaving.id || !isManager(each) || keyEndOf(each) !== Infinity,
  )

const changed = (model: Model, caller: Caller) => ({
  modifiedBy: caller.applicationId,
  modifiedAtMs: model.nowMs,
})

export function updateApplication(
  model: Model,
  key: string | undefined,
  id: string,
  body: JsonObject,
): Expected {
  const caller = admit(model, key, 'application:update')
  if (isRefused(caller)) return caller
  if (!isName(body['name'])) return failed(400)
  const standing = findApplication(model, id)
  // The type decides which grants are right; for an absent application wrong ones may be either.
  if (standing === undefined) return failed(404, 400)
  const { type } = standing
  const grants = readGrants(type, body, rule => isApplicationRule(type, rule))
  if (grants === undefined) return failed(400)
  const added = grants.permissions.filter(each => !standing.permissions.includes(each))
  if (!mayHandOn(caller, type, added)) return failed(403)
  if (!isWithin(realOf(grants), realOf(standing)) && !mayArm(caller, type)) return failed(403)
  const next = { ...standing, name: String(body['name']), ...grants, ...changed(model, caller) }
  if (isLastManager(model, standing) && !isManager(next)) return failed(409)
  model.applications.set(next.id, next)
  return { status: 200, json: view(model, next) }
}

export function regenerateKey(
  model: Model,
  key: string | undefined,
  id: string,
  chosen: Chosen,
): Expected {
  const caller = admit(model, key, 'application:update')
  if (isRefused(caller)) return caller
  const standing = findApplication(model, id)
  if (standing === undefined) return failed(404)
  if (!mayHandOn(caller, standing.type, standing.permissions)) return failed(403)
  if (!mayArm(caller, standing.type)) return failed(403)
  const keyEndsMs = latestEnd(model, caller)
  if (keyEndsMs !== undefined && isLastManager(model, standing)) return failed(409)
  const made = freshKey(model, chosen['key'])
  const next = { ...standing, ...changed(model, caller), key: made, keyEndsMs }
  model.applications.set(next.id, next)
  return { status: 200, json: view(model, next, next.key) }
}

export function deleteApplication(model: Model, key: string | undefined, id: string): Expected {
  const caller = admit(model, key, 'application:delete')
  if (isRefused(caller)) return caller
  const standing = findApplication(model, id)
  if (standing === undefined) return failed(404)
  if (isLastManager(model, standing)) return failed(409)
  model.applications.delete(standing.id)
  return { status: 204 }
}

export interface ApplicationQuery {
  readonly ids: readonly string[]
  readonly types: readonly string[]
}

/** All live applications of the tenant that match, newest first. */
export const matchingApplications = (model: Model, { ids, types }: ApplicationQuery) =>
  liveApplications(model)
    .filter(({ id }) => ids.length === 0 || ids.some(each => each.toLowerCase() === id))
    .filter(({ type }) => types.length === 0 || types.includes(type))
    .map(application => ({ order: application.order, json: view(model, application) }))
