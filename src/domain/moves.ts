/**
 * Whether a token may go from one place to another: a move never reveals.
 *
 * What decides is what the caller itself sees of the token: a place where another caller sees more
 * is that one's own. Source: contract section 9.
 * @module
 */
import { decideTransform, transforms, type Grants, type Place } from './access.ts'
import type { TokenPermission } from './permissions.ts'

/** The permissions by which a caller sees data, or can give it another mask. */
export const seeingPermissions = [
  'token:read',
  'token:search',
  'token:use',
  'token:update',
] as const satisfies readonly TokenPermission[]

/** A place that is not covered shows least: not even that the token is there. */
const rankAt = (grants: Grants, permission: TokenPermission, place: Place): number => {
  const decided = decideTransform(grants, permission, place)
  return transforms.findIndex(transform => transform === decided)
}

/** Whether `to` is covered for `token:update` and shows these grants no more than `from` does. */
export const mayMove = (grants: Grants, from: Place, to: Place): boolean =>
  decideTransform(grants, 'token:update', to) !== undefined &&
  seeingPermissions.every(
    permission => rankAt(grants, permission, to) <= rankAt(grants, permission, from),
  )
