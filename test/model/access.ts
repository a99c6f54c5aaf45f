/**
 * Keys and their rights, in the words of contract sections 2 and 11.
 * @module
 */
import {
  findApplication,
  isStanding,
  keyEndOf,
  type Condition,
  type Grants,
  type Model,
  type Rule,
  type Transform,
} from './state.ts'

export const tokenPermissions = [
  'token:create',
  'token:update',
  'token:read',
  'token:search',
  'token:delete',
  'token:use',
]

const applicationPermissions = [
  'application:create',
  'application:read',
  'application:update',
  'application:delete',
]

const otherManagement = [
  'tenant:read',
  'tenant:update',
  'tenant:delete',
  'log:read',
  'access:explain',
  'status:read',
  'expression:preview',
  'webhook:read',
  'webhook:create',
  'webhook:update',
  'webhook:delete',
  'key:read',
  'key:rotate',
]

/** The table of contract section 11, and section 12 for sessions. */
export const permissionsOf: Readonly<Record<CallerType, readonly string[]>> = {
  public: ['token:create', 'token:update'],
  private: tokenPermissions,
  management: [...applicationPermissions, ...otherManagement],
  session: tokenPermissions,
}

export type CallerType = 'private' | 'public' | 'management' | 'session'

export interface Caller extends Grants {
  readonly type: CallerType
  /** Public application that created the session. */
  readonly applicationId: string
  /** Applications that created and authorized the session. */
  readonly behind: readonly Grants[]
}

const nothing: Grants = { permissions: [], rules: [] }

/** `undefined` for every key that is not live: 401. */
export function callerOf(model: Model, key: string | undefined): Caller | undefined {
  for (const application of model.applications.values()) {
    if (application.key !== key || keyEndOf(application) <= model.nowMs) continue
    const { id, type, permissions, rules } = application
    return { type, applicationId: id, behind: [], permissions, rules }
  }
  for (const session of model.sessions.values()) {
    if (session.key !== key || !isStanding(model, session)) continue
    const { applicationId, authorizer } = session
    const behind = [applicationId, authorizer?.id ?? ''].flatMap(
      id => findApplication(model, id) ?? [],
    )
    return { type: 'session', applicationId, behind, ...(session.grants ?? nothing) }
  }
  return undefined
}

export const holdsAnywhere = ({ permissions, rules }: Grants, permission: string): boolean =>
  permissions.includes(permission) || rules.some(rule => rule.permissions.includes(permission))

export interface Place {
  readonly id: string
  readonly container: string
}

function holds({ attribute, operator, value }: Condition, place: Place): boolean {
  const wanted = attribute === 'container' ? value.toLowerCase() : value
  return operator === 'equals' ? place[attribute] === wanted : place[attribute].startsWith(wanted)
}

const covers = ({ container, conditions = [] }: Rule, place: Place): boolean =>
  container === undefined
    ? conditions.every(condition => holds(condition, place))
    : place.container.startsWith(container.toLowerCase())

/** `undefined`: not covered, as if the token were not there. */
export function decide(grants: Grants, permission: string, place: Place): Transform | undefined {
  const rules = grants.rules.toSorted((a, b) => a.priority - b.priority)
  const rule = rules.find(each => each.permissions.includes(permission) && covers(each, place))
  if (rule !== undefined) return rule.transform
  if (!grants.permissions.includes(permission)) return undefined
  return permission === 'token:use' ? 'reveal' : 'mask'
}

/** Expected answer: the whole body of a success; of a failure the status alone. */
export interface Expected {
  readonly status: number
  /** Another failure that is as right, if two are due and the contract ranks neither. */
  readonly or?: number
  /** Absent: no body. */
  readonly json?: unknown
}

export const failed = (status: number, or = status): Expected => ({ status, or })

/** Returns the caller, or its refusal: 401 for a dead key, 403 without the permission anywhere. */
export function admit(
  model: Model,
  key: string | undefined,
  permission: string,
): Caller | Expected {
  const caller = callerOf(model, key)
  if (caller === undefined) return failed(401)
  return holdsAnywhere(caller, permission) ? caller : failed(403)
}

export const isRefused = (result: Caller | Expected): result is Expected => 'status' in result
