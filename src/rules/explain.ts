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
  type RuledPlace,
  type Transform,
} from './access.ts'
import type { Permission } from './permissions.ts'

export interface RuleStep {
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
  readonly steps: readonly RuleStep[]
}

const conditionSteps = ({ conditions }: Rule, place: RuledPlace) =>
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
  place: RuledPlace,
): Explanation {
  const decider = decidingRule(grants, permission, place)
  const steps = grants.rules.map((rule, index): RuleStep => ({
    rule: index,
    holdsPermission: rule.permissions.includes(permission),
    covers: covers(rule, place),
    ...conditionSteps(rule, place),
    decides: rule === decider,
  }))
  const isPlain = grants.permissions.includes(permission)
  const plain: RuleStep = {
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
