/**
 * Checks the permissions and rules that a request wants to grant, beyond their shape.
 *
 * What a rule is scoped to differs between applications and sessions, so each hands in its own
 * check of that. Every fault is reported, by its path. Source: contract section 11.
 * @module
 */
import type { Condition, Grants, Rule, Transform } from './access.ts'
import { normaliseContainer } from './containers.ts'
import { addFault, throwFaults, type Faults } from './faults.ts'
import { mayHold, type CallerType, type Permission } from './permissions.ts'
import { ApiError } from '../errors.ts'

/** A rule of a request, of the right shape. */
export interface RuleDraft {
  readonly description?: string | null
  readonly priority: number
  readonly container?: string | null
  readonly transform: Transform
  readonly permissions: readonly Permission[]
}

export interface GrantsDraft<R extends RuleDraft> {
  readonly permissions?: readonly Permission[] | null
  readonly rules?: readonly R[] | null
}

/** Which tokens a rule covers. Nothing stands here only where a fault was added. */
export interface RuleScope {
  readonly container?: string
  readonly conditions?: readonly Condition[]
}

/** @param path of the rule, `rules[0]` */
export type CheckScope<R extends RuleDraft> = (faults: Faults, path: string, rule: R) => RuleScope

/** @returns what `check` returns, or `undefined` where it refused: then its fault was added */
export function collectFault<T>(faults: Faults, path: string, check: () => T): T | undefined {
  try {
    return check()
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) throw thrown
    addFault(faults, path, thrown.message)
    return undefined
  }
}

/** The scope of a rule on a container; both kinds of rules may have one. */
export function checkRuleContainer(faults: Faults, path: string, container: string): RuleScope {
  const at = `${path}.container`
  const normal = collectFault(faults, at, () => normaliseContainer(container, at))
  return normal === undefined ? {} : { container: normal }
}

const holderOf = (type: CallerType): string =>
  type === 'session' ? 'a session' : `a ${type} application`

function checkPermissions(
  faults: Faults,
  path: string,
  type: CallerType,
  granted: readonly Permission[],
): Permission[] {
  granted.forEach((permission, index) => {
    if (mayHold(type, permission)) return
    addFault(faults, `${path}[${index}]`, `expected a permission that ${holderOf(type)} may hold`)
  })
  return [...new Set(granted)]
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
export function composeGrants<R extends RuleDraft>(
  type: CallerType,
  draft: GrantsDraft<R>,
  checkScope: CheckScope<R>,
): Grants {
  const faults: Faults = new Map()
  const permissions = checkPermissions(faults, 'permissions', type, draft.permissions ?? [])
  const rules = (draft.rules ?? []).map((rule, index): Rule => {
    const path = `rules[${index}]`
    const { description, priority, transform } = rule
    const scope = checkScope(faults, path, rule)
    const held = checkPermissions(faults, `${path}.permissions`, type, rule.permissions)
    return {
      ...(typeof description === 'string' ? { description } : {}),
      priority,
      ...scope,
      transform,
      permissions: held,
    }
  })
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
