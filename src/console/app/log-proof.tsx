/**
 * The proof of one entry, verified here and drawn, with the key that was trusted.
 * @module
 */
import type { Signal } from '@preact/signals'
import type { LogCheckpoint, LogProof } from '../../client/interface.ts'
import { Refused } from './notices.tsx'
import { verifyProof, type Verdict } from './proof.ts'
import { Id, Value } from './value.tsx'
import { ask, type Refusal } from './vault.ts'

interface Verified {
  readonly verdict: Verdict
  readonly key: string
  readonly entry: string
}

export type ProofState =
  | { readonly state: 'nothing' | 'loading' }
  | { readonly state: 'refused'; readonly refusal: Refusal }
  | { readonly state: 'verified'; readonly verified: Verified }

async function prove(sequence: number): Promise<ProofState> {
  const proof = await ask<LogProof>({ path: `/logs/${sequence}/proof` })
  if (proof.refusal !== undefined) return { state: 'refused', refusal: proof.refusal }
  const checkpoint = await ask<LogCheckpoint>({ path: '/logs/checkpoint' })
  if (checkpoint.refusal !== undefined) return { state: 'refused', refusal: checkpoint.refusal }
  const { key } = checkpoint.value
  const { entry, sequence: proved } = proof.value
  const verdict: Verdict =
    proved === sequence
      ? await verifyProof(proof.value, key)
      : { holds: false, reason: 'The vault proved another entry.' }
  return { state: 'verified', verified: { verdict, key, entry } }
}

const Drawn = ({ of: { verdict, key, entry } }: { readonly of: Verified }) => (
  <div class={`proof ${verdict.holds ? 'good' : 'bad'}`} role="status">
    <p>
      <strong>{verdict.holds ? '✓ Proved.' : '✗ Not proved.'}</strong>{' '}
      {verdict.holds
        ? `This entry is one of the first ${verdict.size.toLocaleString('en')} that were signed.`
        : verdict.reason}
    </p>
    <Value of={entry} />
    <p class="hint">
      Hashed and verified in this browser. The key was told by this vault just now, so this shows
      that log and key fit each other; compare the key with one that was kept elsewhere:
    </p>
    <p>
      <Id of={key} />
    </p>
  </div>
)

interface ProofRowProps {
  readonly state: Signal<ProofState>
  /** Columns of the table. */
  readonly columns: number
}

interface ProofProps {
  readonly sequence: number
  readonly state: Signal<ProofState>
}

const labels = {
  nothing: 'Verify',
  loading: 'Verifying…',
  refused: 'Close',
  verified: 'Close',
} as const satisfies Record<ProofState['state'], string>

/** Its next press takes away what it has shown. */
export function VerifyButton({ sequence, state }: ProofProps) {
  const press = async (): Promise<void> => {
    const before = state.value.state
    if (before === 'loading') return
    state.value = { state: before === 'nothing' ? 'loading' : 'nothing' }
    if (before === 'nothing') state.value = await prove(sequence)
  }
  const label = labels[state.value.state]
  return (
    <button
      type="button"
      class="small verify"
      aria-label={
        label === 'Close' ? `Close the proof of entry ${sequence}` : `${label} entry ${sequence}`
      }
      aria-disabled={state.value.state === 'loading'}
      onClick={() => void press()}
    >
      {label}
    </button>
  )
}

/** A row of its own below the entry, since a proof is wider than a column. */
export function ProofRow({ state: { value }, columns }: ProofRowProps) {
  if (value.state !== 'refused' && value.state !== 'verified') return null
  return (
    <tr class="more">
      <td colSpan={columns}>
        {value.state === 'refused' ? (
          <Refused refusal={value.refusal} />
        ) : (
          <Drawn of={value.verified} />
        )}
      </td>
    </tr>
  )
}
