/**
 * Decides whether a token may move from one place to another: a move never reveals.
 *
 * The caller's own view of the token decides, and that of those it acts for: a place where another
 * caller sees more is that caller's concern. Source: contract section 9.
 * @module
 */
import type { Caller } from './caller.ts'
import { decideTransform, rankOf, type Grants, type RuledPlace } from './access.ts'
import type { TokenPermission } from './permissions.ts'

/** The permissions that let a caller see data, or change its mask. */
export const seeingPermissions = [
  'token:read',
  'token:search',
  'token:use',
  'token:update',
] as const satisfies readonly TokenPermission[]

const rankAt = (grants: Grants, permission: TokenPermission, place: RuledPlace): number =>
  rankOf(decideTransform(grants, permission, place))

/** True if `to` shows these grants no more than `from` does. */
const showsNoMore = (grants: Grants, from: RuledPlace, to: RuledPlace): boolean =>
  seeingPermissions.every(
    permission => rankAt(grants, permission, to) <= rankAt(grants, permission, from),
  )

type Mover = Pick<Caller, 'grants' | 'dependsOn'>

/**
 * True if `to` is covered for `token:update`, and shows no more than `from` does. decision: nor to
 * those behind a session: otherwise a caller could have a session move a token for it.
 */
export const mayMove = ({ grants, dependsOn }: Mover, from: RuledPlace, to: RuledPlace): boolean =>
  decideTransform(grants, 'token:update', to) !== undefined &&
  [grants, ...dependsOn.map(backer => backer.grants)].every(seen => showsNoMore(seen, from, to))
