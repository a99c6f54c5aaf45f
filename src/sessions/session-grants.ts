/**
 * Grants of a session: any token permission, by rules on a container or on conditions.
 *
 * Source: spec, "Access rule", "Condition"; contract sections 11 and 12.
 * @module
 */
import { type Condition, type Grants } from '../rules/access.ts'
import { normaliseContainer, normaliseContainerStart } from '../rules/container-paths.ts'
import { addFault, type Faults, invalid } from '../lib/errors.ts'
import {
  checkRuleContainer,
  collectFault,
  composeGrants,
  type GrantsDraft,
  type RuleScope,
} from '../rules/grants.ts'
import { hasCharacters } from '../lib/maps.ts'
import { tokenIdCharsMax } from '../limits/limits.ts'
import type { SessionRuleBody } from './schema.ts'

/** @returns the value in the form in which tokens are compared with it */
function normaliseValue({ attribute, operator, value }: Condition, at: string): string {
  if (attribute === 'container') {
    return operator === 'equals'
      ? normaliseContainer(value, at)
      : normaliseContainerStart(value, at)
  }
  if (hasCharacters(value, 0, tokenIdCharsMax)) return value
  throw invalid(at, `expected at most ${tokenIdCharsMax} characters`)
}

function checkConditions(
  faults: Faults,
  path: string,
  conditions: readonly Condition[],
): RuleScope {
  const checked = conditions.flatMap((condition, index): Condition[] => {
    const at = `${path}.conditions[${index}].value`
    const value = collectFault(faults, at, () => normaliseValue(condition, at))
    const { attribute, operator } = condition
    return value === undefined ? [] : [{ attribute, operator, value }]
  })
  return { conditions: checked }
}

function checkScope(faults: Faults, path: string, rule: SessionRuleBody): RuleScope {
  const container = rule.container ?? undefined
  const conditions = rule.conditions ?? undefined
  if (container !== undefined && conditions === undefined) {
    return checkRuleContainer(faults, path, container)
  }
  if (conditions !== undefined && container === undefined) {
    return checkConditions(faults, path, conditions)
  }
  addFault(faults, path, 'expected either a container or conditions')
  return {}
}

/**
 * @returns grants with their rules in ascending priority
 * @throws ApiError `invalid_request` with every fault
 */
export const checkSessionGrants = (body: GrantsDraft<SessionRuleBody>): Grants =>
  composeGrants('session', body, checkScope)
