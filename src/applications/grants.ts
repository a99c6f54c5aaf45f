/**
 * Checks the permissions and rules that a request wants to grant, beyond their shape.
 *
 * Source: contract section 11. Every fault is reported, by its path.
 * @module
 */
import type { Grants, Rule } from '../domain/access.ts'
import { normaliseContainer } from '../domain/containers.ts'
import { addFault, throwFaults, type Faults } from '../domain/faults.ts'
import { mayHold, type ApplicationType, type Permission } from '../domain/permissions.ts'
import { ApiError } from '../errors.ts'
import type { RuleBody } from './model.ts'

export interface GrantsBody {
  readonly permissions?: readonly Permission[] | null
  readonly rules?: readonly RuleBody[] | null
}

function checkPermissions(
  faults: Faults,
  path: string,
  type: ApplicationType,
  granted: readonly Permission[],
): Permission[] {
  granted.forEach((permission, index) => {
    if (mayHold(type, permission)) return
    addFault(
      faults,
      `${path}[${index}]`,
      `expected a permission that a ${type} application may hold`,
    )
  })
  return [...new Set(granted)]
}

function checkContainer(faults: Faults, path: string, rule: RuleBody): string | undefined {
  if (rule.conditions !== undefined && rule.conditions !== null) {
    addFault(faults, `${path}.conditions`, 'expected no conditions: they are for sessions')
  }
  if (rule.container === undefined || rule.container === null) {
    addFault(faults, `${path}.container`, 'is required')
    return undefined
  }
  try {
    return normaliseContainer(rule.container, `${path}.container`)
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    addFault(faults, `${path}.container`, thrown.message)
    return undefined
  }
}

function checkRule(faults: Faults, index: number, type: ApplicationType, body: RuleBody): Rule {
  const path = `rules[${index}]`
  const container = checkContainer(faults, path, body)
  return {
    ...(typeof body.description === 'string' ? { description: body.description } : {}),
    priority: body.priority,
    ...(container === undefined ? {} : { container }),
    transform: body.transform,
    permissions: checkPermissions(faults, `${path}.permissions`, type, body.permissions),
  }
}

function checkPriorities(faults: Faults, rules: readonly Rule[]): void {
  const seen = new Set<number>()
  rules.forEach((rule, index) => {
    if (seen.has(rule.priority)) {
      addFault(faults, `rules[${index}].priority`, 'expected a priority that no other rule has')
    }
    seen.add(rule.priority)
  })
}

/**
 * @returns grants whose rules stand in ascending priority
 * @throws ApiError `invalid_request` with every fault
 */
export function checkGrants(type: ApplicationType, body: GrantsBody): Grants {
  const faults: Faults = new Map()
  const permissions = checkPermissions(faults, 'permissions', type, body.permissions ?? [])
  const ruleBodies = body.rules ?? []
  const rules = ruleBodies.map((rule, index) => checkRule(faults, index, type, rule))
  checkPriorities(faults, rules)
  if (type === 'management' && rules.length > 0) {
    addFault(faults, 'rules', 'expected no rules: management applications take permissions only')
  }
  if (permissions.length === 0 && rules.length === 0) {
    addFault(faults, 'permissions', 'expected at least one permission or one rule')
  }
  throwFaults(faults)
  return { permissions, rules: rules.toSorted((a, b) => a.priority - b.priority) }
}
