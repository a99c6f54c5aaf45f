/**
 * Whether a token may go from one place to another: a move never reveals.
 *
 * What decides is what the caller sees of the token itself, and those that it acts for: a place
 * where another caller sees more is that one's own. Source: contract section 9.
 * @module
 */
import type { Caller } from './caller.ts'
import { decideTransform, rankOf, type Grants, type TokenPlace } from './access.ts'
import type { TokenPermission } from './permissions.ts'

/** The permissions by which a caller sees data, or can give it another mask. */
export const seeingPermissions = [
  'token:read',
  'token:search',
  'token:use',
  'token:update',
] as const satisfies readonly TokenPermission[]

const rankAt = (grants: Grants, permission: TokenPermission, place: TokenPlace): number =>
  rankOf(decideTransform(grants, permission, place))

/** Whether `to` shows these grants no more than `from` does. */
const showsNoMore = (grants: Grants, from: TokenPlace, to: TokenPlace): boolean =>
  seeingPermissions.every(
    permission => rankAt(grants, permission, to) <= rankAt(grants, permission, from),
  )

type Mover = Pick<Caller, 'grants' | 'dependsOn'>

/**
 * Whether `to` is covered for `token:update`, and shows no more than `from` does. decision: neither
 * to those behind a session: else who may not move a token itself would let a session do so.
 */
export const mayMove = ({ grants, dependsOn }: Mover, from: TokenPlace, to: TokenPlace): boolean =>
  decideTransform(grants, 'token:update', to) !== undefined &&
  [grants, ...dependsOn.map(backer => backer.grants)].every(seen => showsNoMore(seen, from, to))
