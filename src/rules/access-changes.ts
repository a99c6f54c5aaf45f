/**
 * Changes of what grants show of tokens, as one side hands them to another.
 * @module
 */
import type { Grants, Transform } from './access.ts'
import type { TokenPermission } from './permissions.ts'

/** Permissions by which data is seen or found. */
export const showingPermissions = [
  'token:read',
  'token:search',
  'token:use',
] as const satisfies readonly TokenPermission[]

export type ShownOrHidden = Transform | 'hidden'

/** Two grants over the tokens of one tenant. Their rules go by container, as of applications. */
export interface GrantsPair {
  readonly before: Grants
  readonly after: Grants
}

/** Tokens that one permission shows otherwise than before. */
export interface ShownChange {
  readonly permission: (typeof showingPermissions)[number]
  readonly from: ShownOrHidden
  readonly to: ShownOrHidden
  /** Exact. */
  readonly count: number
  /** Ids of some of them, the newest first. */
  readonly samples: readonly string[]
}
