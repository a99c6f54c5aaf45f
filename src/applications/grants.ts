/**
 * What an application may be granted: its rules go by container. Source: contract section 11.
 *
 * @module
 */
import type { Grants } from '../domain/access.ts'
import { addFault, type Faults } from '../domain/faults.ts'
import {
  checkRuleContainer,
  composeGrants,
  type GrantsDraft,
  type RuleScope,
} from '../domain/grants.ts'
import type { ApplicationType } from '../domain/permissions.ts'
import type { RuleBody } from './model.ts'

function checkScope(faults: Faults, path: string, rule: RuleBody): RuleScope {
  if (rule.conditions !== undefined && rule.conditions !== null) {
    addFault(faults, `${path}.conditions`, 'expected no conditions: they are for sessions')
  }
  if (typeof rule.container === 'string') return checkRuleContainer(faults, path, rule.container)
  addFault(faults, `${path}.container`, 'is required')
  return {}
}

/**
 * @returns grants whose rules stand in ascending priority
 * @throws ApiError `invalid_request` with every fault
 */
export const checkGrants = (type: ApplicationType, body: GrantsDraft<RuleBody>): Grants =>
  composeGrants(type, body, checkScope)
