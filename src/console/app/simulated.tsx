/**
 * The effect of a change of grants, counted: "mask → reveal: 1,204".
 * @module
 */
import { useEffect, useRef } from 'preact/hooks'
import type { AccessChange } from '../../client/interface.ts'
import { Items, Text } from './value.tsx'

/** Returns the most tokens that some permission would newly reveal. */
export const revealedBy = (changes: readonly AccessChange[]): number =>
  Math.max(
    0,
    ...['token:read', 'token:search', 'token:use'].map(permission =>
      changes
        .filter(change => change.permission === permission && change.to === 'reveal')
        .reduce((sum, { count }) => sum + count, 0),
    ),
  )

const Shown = ({ as }: { readonly as: string }) => <span class={`badge ${as}`}>{as}</span>

function Change({ change }: { readonly change: AccessChange }) {
  const isWhole = change.samples.length === change.count
  return (
    <li class={change.to === 'reveal' ? 'change reveals' : 'change'}>
      <p>
        <code>{change.permission}</code> <Shown as={change.from} /> → <Shown as={change.to} />:{' '}
        <strong>{change.count.toLocaleString('en')}</strong>{' '}
        {change.count === 1 ? 'token' : 'tokens'}
      </p>
      {change.samples.length > 0 && (
        <details>
          <summary>{isWhole ? 'The ids' : `${change.samples.length} of them`}</summary>
          <Items of={change.samples} show={id => <Text of={id} />} />
        </details>
      )}
    </li>
  )
}

interface SimulatedProps {
  readonly changes: readonly AccessChange[]
  /** False once the rules were edited further. */
  readonly isOfNow: boolean
}

/** It comes into view: it may stand below the end of the window. */
export function Simulated({ changes, isOfNow }: SimulatedProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [changes])
  return (
    <div ref={box} class={isOfNow ? '' : 'stale'} role="status">
      <h3>{isOfNow ? 'What saving would change' : 'What the rules before would have changed'}</h3>
      {changes.length === 0 ? (
        <p>No stored token would be shown differently.</p>
      ) : (
        <ul class="items">
          {changes.map(change => (
            <Change key={`${change.permission} ${change.from} ${change.to}`} change={change} />
          ))}
        </ul>
      )}
    </div>
  )
}
