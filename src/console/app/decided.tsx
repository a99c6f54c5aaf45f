/**
 * Why a token is shown as it is: the sentence of the vault, and the rules that it went through.
 * @module
 */
import type { AccessStep, OwnAccess } from '../../client/interface.ts'
import { Text } from './value.tsx'

/** True for a permission outside of the rules, which has no container. */
const isPlain = ({ container }: AccessStep): boolean => container === undefined

function outcomeOf(step: AccessStep): string {
  const { decides, holds_permission: holds, covers } = step
  if (decides) return 'decides'
  if (!holds && isPlain(step)) return 'is not held'
  if (!holds) return 'lacks the permission'
  return covers ? 'comes later' : 'does not cover it'
}

const Step = ({ step }: { readonly step: AccessStep }) => (
  <li class={step.decides ? 'decides' : ''}>
    <strong>{step.rule}</strong>
    {isPlain(step) && ' as a plain permission'}
    {step.container !== undefined && (
      <>
        {' '}
        for <Text of={step.container} />
      </>
    )}
    {step.transform !== undefined && (
      <>
        {' '}
        <span class={`badge ${step.transform}`}>{step.transform}</span>
      </>
    )}{' '}
    {outcomeOf(step)}
  </li>
)

export const Decided = ({ access }: { readonly access: OwnAccess }) => (
  <section aria-labelledby="why-title">
    <h2 id="why-title">Why</h2>
    <p>
      <span class={`badge ${access.decision}`}>{access.decision}</span> <bdi>{access.text}</bdi>
    </p>
    {access.decision === 'reveal' && (
      <p class="hint">This page shows the mask first, and the value once a reason is given.</p>
    )}
    <details>
      <summary>{access.steps.length} steps</summary>
      <ul>
        {access.steps.map((step, index) => (
          <Step key={index} step={step} />
        ))}
      </ul>
    </details>
  </section>
)
