/**
 * An explanation as its reader gets it: what is answered, which rule decides, and one sentence.
 *
 * Shows rules by their place, priority and container. The values of conditions are left out: they
 * may be ids.
 * @module
 */
import { holdsAnywhere, type Grants, type Rule, type RuledPlace } from '../../rules/access.ts'
import { explainTransform, type Explanation, type RuleStep } from '../../rules/explain.ts'
import type { Permission } from '../../rules/permissions.ts'
import type { TokenRecord } from '../token-record.ts'
import { foreseen, type AskedAccess } from './token-operations.ts'

export const decisions = ['reveal', 'mask', 'redact', 'hidden', 'forbidden'] as const
type Decision = (typeof decisions)[number]

/** A mask shows some or none of the data, or what its evaluation at a read yields. */
export const maskEffects = ['shows', 'shows_nothing', 'absent', 'evaluated'] as const
type MaskEffect = (typeof maskEffects)[number]

export const maskEffectOf = ({
  maskText,
  maskedText,
}: Pick<TokenRecord, 'maskText' | 'maskedText'>): MaskEffect => {
  if (maskText === undefined) return 'absent'
  if (maskedText === undefined) return 'evaluated'
  return maskedText === null ? 'shows_nothing' : 'shows'
}

const decisionOf = (
  { transform }: Explanation,
  grants: Grants,
  permission: Permission,
): Decision => (holdsAnywhere(grants, permission) ? (transform ?? 'hidden') : 'forbidden')

const showsNothing = (effect: MaskEffect | undefined): boolean =>
  effect === 'absent' || effect === 'shows_nothing'

/** By rights alone: the key is live and within its rate, and the rest of the request is good. */
function statusOf(decision: Decision, asked: AskedAccess, effect: MaskEffect | undefined): number {
  if (decision === 'forbidden') return 403
  const { shown, hidden, blank = shown } = foreseen(asked)
  if (decision === 'hidden') return hidden
  const isBlank = decision === 'redact' || (decision === 'mask' && showsNothing(effect))
  return isBlank ? blank : shown
}

const ruleAt = ({ rules }: Grants, { rule }: RuleStep): Rule | undefined =>
  rule === 'plain' ? undefined : rules[rule]

const printStep = (grants: Grants, permission: Permission, step: RuleStep) => {
  const rule = ruleAt(grants, step)
  return {
    rule: rule === undefined ? permission : `rule ${step.rule}`,
    priority: rule?.priority,
    container: rule?.container,
    transform: rule?.transform,
    holds_permission: step.holdsPermission,
    covers: step.covers,
    conditions: step.conditions,
    decides: step.decides,
  }
}

const outcomes: Readonly<Record<Decision, string>> = {
  reveal: 'Revealed',
  mask: 'Masked',
  redact: 'Redacted',
  hidden: 'Hidden',
  forbidden: 'Forbidden',
}

function nameOf(grants: Grants, permission: Permission, step: RuleStep): string {
  const rule = ruleAt(grants, step)
  if (rule === undefined) return `the plain permission ${permission}`
  const scope = rule.container === undefined ? 'with conditions' : `container ${rule.container}`
  return `rule ${step.rule} (priority ${rule.priority}, ${scope})`
}

/** Says why the rules before the one that decides do not. */
function passedOver({ steps }: Explanation, permission: Permission): string {
  const deciding = steps.findIndex(({ decides }) => decides)
  const before = (deciding < 0 ? steps : steps.slice(0, deciding)).filter(
    ({ rule }) => rule !== 'plain',
  )
  const lacking = before.filter(({ holdsPermission }) => !holdsPermission)
  const elsewhere = before.filter(({ holdsPermission }) => holdsPermission)
  const told = (steps: readonly RuleStep[], one: string, many: string) =>
    steps.length === 0
      ? []
      : [
          steps.length === 1
            ? `rule ${steps[0]?.rule} ${one}`
            : `rules ${steps.map(({ rule }) => rule).join(', ')} ${many}`,
        ]
  return [
    ...told(lacking, `lacks ${permission}`, `lack ${permission}`),
    ...told(elsewhere, 'does not cover the token', 'do not cover the token'),
  ].join('; ')
}

const maskWords: Readonly<Record<MaskEffect, string>> = {
  shows: '',
  shows_nothing: '; the mask shows nothing of it',
  absent: '; it has no mask, so nothing of it is shown',
  evaluated: '; the mask is evaluated at each read',
}

function textOf(
  explanation: Explanation,
  grants: Grants,
  permission: Permission,
  decision: Decision,
  effect: MaskEffect | undefined,
): string {
  const outcome = outcomes[decision]
  if (decision === 'forbidden') return `${outcome}: nothing grants ${permission}.`
  const decider = explanation.steps.find(({ decides }) => decides)
  const by =
    decider === undefined
      ? 'nothing that grants it covers the token'
      : `${nameOf(grants, permission, decider)} decides`
  const others = passedOver(explanation, permission)
  const mask = decision === 'mask' && effect !== undefined ? maskWords[effect] : ''
  return `${outcome}: ${by}${others === '' ? '' : `; ${others}`}${mask}.`
}

/**
 * Returns what is decided over a token in that place, as a value for JSON.
 * @param effect  of its mask, where a token is there
 */
export function explainAccess(
  grants: Grants,
  asked: AskedAccess,
  place: RuledPlace,
  effect?: MaskEffect,
) {
  const { permission } = foreseen(asked)
  const explanation = explainTransform(grants, permission, place)
  const decision = decisionOf(explanation, grants, permission)
  return {
    decision,
    status: statusOf(decision, asked, effect),
    permission,
    decided_by: explanation.decidedBy,
    steps: explanation.steps.map(step => printStep(grants, permission, step)),
    mask_effect: effect,
    text: textOf(explanation, grants, permission, decision, effect),
  }
}
