/**
 * Whether whoever asks sees all that an answer could tell of, so that it has nothing to guess.
 *
 * @module
 */
import { decideTransform, plainTransform, type Grants, type Place, type Rule } from './access.ts'
import type { Permission } from './permissions.ts'

const coversAll = ({ container, conditions }: Rule): boolean =>
  container === '/' || (container === undefined && conditions?.length === 0)

/**
 * Whether everything that the grants cover for that permission is revealed. What stands behind a
 * rule that covers everything decides nothing.
 */
export function revealsAll({ permissions, rules }: Grants, permission: Permission): boolean {
  for (const rule of rules) {
    if (!rule.permissions.includes(permission)) continue
    if (rule.transform !== 'reveal') return false
    if (coversAll(rule)) return true
  }
  return !permissions.includes(permission) || plainTransform(permission) === 'reveal'
}

/** Whether, in addition, what is at that place is. */
export const revealsAllAnd = (grants: Grants, permission: Permission, place: Place): boolean =>
  revealsAll(grants, permission) && decideTransform(grants, permission, place) === 'reveal'
