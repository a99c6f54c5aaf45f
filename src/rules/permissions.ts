/**
 * Permissions, types of callers, and what each type may hold. Source: contract sections 11, 12.
 * @module
 */

export const applicationTypes = ['private', 'public', 'management'] as const
export type ApplicationType = (typeof applicationTypes)[number]

/** Kind of a credential: a key of an application, or of a session. */
export type CallerType = ApplicationType | 'session'

const tokenWrites = ['token:create', 'token:update'] as const
const tokenReads = ['token:read', 'token:search', 'token:delete', 'token:use'] as const
/**
 * decision: accepted because published clients send these and applications hold them;
 * they guard nothing, so no list for people offers them.
 */
export const unguardedPermissions = ['tenant:delete'] as const
const management = [
  'application:read',
  'application:create',
  'application:update',
  'application:delete',
  'session:read',
  'session:delete',
  'tenant:read',
  'tenant:update',
  'key:read',
  'key:rotate',
  'log:read',
  'webhook:read',
  'webhook:create',
  'webhook:update',
  'webhook:delete',
  'access:explain',
  'status:read',
  'expression:preview',
  ...unguardedPermissions,
] as const

export type TokenPermission = (typeof tokenWrites)[number] | (typeof tokenReads)[number]
export type Permission = TokenPermission | (typeof management)[number]

export const tokenPermissions: readonly TokenPermission[] = [...tokenWrites, ...tokenReads]
export const permissions: readonly Permission[] = [...tokenPermissions, ...management]

type UnguardedPermission = (typeof unguardedPermissions)[number]
export type OfferedPermission = Exclude<Permission, UnguardedPermission>

const isOffered = (permission: Permission): permission is OfferedPermission =>
  !unguardedPermissions.some(unguarded => unguarded === permission)

/** Permissions that guard something. */
export const offeredPermissions: readonly OfferedPermission[] = permissions.filter(isOffered)

const holdable: Readonly<Record<CallerType, ReadonlySet<Permission>>> = {
  public: new Set<Permission>(tokenWrites),
  private: new Set<Permission>(tokenPermissions),
  management: new Set<Permission>(management),
  session: new Set<Permission>(tokenPermissions),
}

/** True if a caller of that type may be granted that permission, plainly or by a rule. */
export const mayHold = (type: CallerType, permission: Permission): boolean =>
  holdable[type].has(permission)
