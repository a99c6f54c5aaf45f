/**
 * Whether whoever asks sees all that an answer could tell of, so that it has nothing to guess.
 *
 * @module
 */
import { plainTransform, type Grants, type Rule } from './access.ts'
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

/** Whether every token there is would be revealed, whatever covers it. */
export const revealsEverywhere = ({ rules }: Grants, permission: Permission): boolean => {
  const deciding = rules.filter(rule => rule.permissions.includes(permission))
  const last = deciding.findIndex(coversAll)
  return last >= 0 && deciding.slice(0, last + 1).every(rule => rule.transform === 'reveal')
}

/**
 * Has nothing to guess: those that may be equal to a token lie wherever the caller creates, not
 * only where that one lies.
 */
export const seesAllData = (grants: Grants): boolean => revealsEverywhere(grants, 'token:read')
