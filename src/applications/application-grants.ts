/**
 * Grants that an application may hold: its rules go by container. Source: contract section 11.
 *
 * @module
 */
import type { Grants } from '../rules/access.ts'
import { addFault, type Faults, ApiError } from '../lib/errors.ts'
import {
  checkRuleContainer,
  composeGrants,
  type GrantsDraft,
  type RuleScope,
} from '../rules/grants.ts'
import { applicationTypes, type ApplicationType } from '../rules/permissions.ts'
import type { RuleBody } from './schema.ts'

function checkScope(faults: Faults, path: string, rule: RuleBody): RuleScope {
  if (rule.conditions !== undefined && rule.conditions !== null) {
    addFault(faults, `${path}.conditions`, 'expected no conditions: they are for sessions')
  }
  return checkRuleContainer(faults, path, rule.container)
}

/**
 * @returns grants with their rules in ascending priority
 * @throws ApiError `invalid_request` with every fault
 */
export const checkGrants = (type: ApplicationType, body: GrantsDraft<RuleBody>): Grants =>
  composeGrants(type, body, checkScope)

const faultOf = (type: ApplicationType, body: GrantsDraft<RuleBody>): ApiError | undefined => {
  try {
    checkGrants(type, body)
    return undefined
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
}

const faultsIn = ({ fields = {} }: ApiError): number => Object.keys(fields).length

/**
 * Checks grants for an application that does not exist: grants that no type may hold are a fault of
 * the body (contract section 2).
 * @throws ApiError `invalid_request` with the faults for the type that has the fewest
 */
export function assertGrantsOfSomeType(body: GrantsDraft<RuleBody>): void {
  const faults = applicationTypes.map(type => faultOf(type, body))
  const [first, ...others] = faults.filter(fault => fault !== undefined)
  if (first === undefined || others.length + 1 < faults.length) return
  throw others.reduce((least, fault) => (faultsIn(fault) < faultsIn(least) ? fault : least), first)
}
