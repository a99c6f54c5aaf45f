/**
 * Explains a decision over a token: what each rule says, and which one decides.
 *
 * The decision itself is that of `decidingRule`, which also answers reads and names the rule in the
 * audit log, so an explanation cannot part from them. Source: contract section 11.
 * @module
 */
import {
  conditionHolds,
  covers,
  decidedBy,
  decideTransform,
  decidingRule,
  type Condition,
  type Grants,
  type Rule,
  type TokenPlace,
  type Transform,
} from './access.ts'
import type { Permission } from './permissions.ts'

export interface AccessStep {
  /** Place in the order of rules, from 0; `plain` for the plain permission. */
  readonly rule: number | 'plain'
  readonly holdsPermission: boolean
  readonly covers: boolean
  /** Absent where a rule has none. */
  readonly conditions?: readonly (Omit<Condition, 'value'> & { readonly holds: boolean })[]
  readonly decides: boolean
}

export interface Explanation {
  /** Absent means that the token is hidden. */
  readonly transform: Transform | undefined
  /** The name that the audit log gives it. */
  readonly decidedBy: string
  /** Every rule in its order, then the plain permission. */
  readonly steps: readonly AccessStep[]
}

const conditionSteps = ({ conditions }: Rule, place: TokenPlace) =>
  conditions === undefined
    ? {}
    : {
        conditions: conditions.map(condition => ({
          attribute: condition.attribute,
          operator: condition.operator,
          holds: conditionHolds(condition, place),
        })),
      }

export function explainTransform(
  grants: Grants,
  permission: Permission,
  place: TokenPlace,
): Explanation {
  const decider = decidingRule(grants, permission, place)
  const steps = grants.rules.map((rule, index): AccessStep => ({
    rule: index,
    holdsPermission: rule.permissions.includes(permission),
    covers: covers(rule, place),
    ...conditionSteps(rule, place),
    decides: rule === decider,
  }))
  const isPlain = grants.permissions.includes(permission)
  const plain: AccessStep = {
    rule: 'plain',
    holdsPermission: isPlain,
    covers: true,
    decides: isPlain && decider === undefined,
  }
  return {
    transform: decideTransform(grants, permission, place),
    decidedBy: decidedBy(grants, permission, place),
    steps: [...steps, plain],
  }
}
