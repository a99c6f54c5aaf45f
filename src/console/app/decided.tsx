/**
 * Why a token is shown as it is: the sentence of the vault, and the rules that it went through.
 * @module
 */
import type { AccessStep, OwnAccess } from '../../client/interface.ts'
import { Text } from './value.tsx'

function outcomeOf(step: AccessStep): string {
  const { decides, holds_permission: holds, covers } = step
  if (decides) return 'decides'
  // A plain permission, which has no container.
  if (!holds && step.container === undefined) return 'is not held'
  if (!holds) return 'lacks the permission'
  return covers ? 'comes later' : 'does not cover it'
}

const Step = ({ step }: { readonly step: AccessStep }) => (
  <li class={step.decides ? 'decides' : ''}>
    <strong>{step.rule}</strong>
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
    <details>
      <summary>{access.steps.length} steps</summary>
      <ol>
        {access.steps.map((step, index) => (
          <Step key={index} step={step} />
        ))}
      </ol>
    </details>
  </section>
)
