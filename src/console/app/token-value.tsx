/**
 * The value of a token: its mask, and the value itself once a person has said why it is needed. The
 * reason lands in the audit log.
 * @module
 */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Token } from '../../client/interface.ts'
import { useAsking } from './asked.ts'
import { reasonCharsMax } from './limits.ts'
import { Refused } from './notices.tsx'
import { Value } from './value.tsx'
import { pathTo } from './vault.ts'

interface ReasonProps {
  readonly isBusy: boolean
  readonly onReason: (reason: string) => void
  readonly onCancel: () => void
}

function ReasonForm({ isBusy, onReason, onCancel }: ReasonProps) {
  const field = useRef<HTMLInputElement>(null)
  const reason = useSignal('')
  useEffect(() => field.current?.focus(), [])
  const submit = (event: Event): void => {
    event.preventDefault()
    const given = reason.value.trim()
    if (given !== '' && !isBusy) onReason(given)
  }
  return (
    <form onSubmit={submit} autocomplete="off">
      <label for="reason">Reason</label>
      <div class="row reason-row">
        <input
          ref={field}
          id="reason"
          value={reason.value}
          maxLength={reasonCharsMax}
          required
          pattern=".*\S.*"
          autocomplete="off"
          spellcheck={false}
          placeholder="Case 4711: the customer asked"
          aria-describedby="reason-hint"
          onInput={({ currentTarget }) => {
            reason.value = currentTarget.value
          }}
        />
        <button type="submit" class="primary" aria-disabled={isBusy}>
          Show value
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </div>
      <p id="reason-hint" class="hint">
        The audit log keeps it, with the id of your key. Write no card number and no key into it.
      </p>
    </form>
  )
}

interface TokenValueProps {
  readonly token: Token
  /** Called once a value was revealed, which the log then tells. */
  readonly onRevealed: () => void
}

/** A value that is revealed stands here alone, and goes with the page of its token. */
export function TokenValue({ token, onRevealed }: TokenValueProps) {
  const isAsking = useSignal(false)
  const { asked, run, drop } = useAsking<Token>()
  const button = useRef<HTMLButtonElement>(null)
  const { value: state } = asked
  const revealed = state.state === 'answered' ? state.value : undefined
  const mayReveal = token._extras?.access?.decision === 'reveal'
  const reveal = async (reason: string): Promise<void> => {
    const next = await run({ path: pathTo('/tokens', token.id), reason })
    if (next.state !== 'answered') return
    isAsking.value = false
    onRevealed()
  }
  const hide = (): void => {
    isAsking.value = false
    drop()
  }
  useEffect(() => drop, [drop])
  const data = revealed === undefined ? token.data : revealed.data
  // The button that was pressed is gone: the next one takes its focus.
  const isFirst = useRef(true)
  useEffect(() => {
    if (!isFirst.current && !isAsking.value) button.current?.focus()
    isFirst.current = false
  }, [isAsking.value, revealed])
  return (
    <section aria-labelledby="value-title">
      <h2 id="value-title">Value</h2>
      {data === undefined ? (
        <p class="hint">
          {mayReveal ? 'Its mask shows nothing.' : 'This key is shown no data of it.'}
        </p>
      ) : (
        <Value of={data} />
      )}
      {mayReveal && data !== undefined && revealed === undefined && (
        <p class="hint">
          This is its mask. Your key may see the value too, once you give a reason.
        </p>
      )}
      {state.state === 'refused' && <Refused refusal={state.refusal} />}
      {isAsking.value ? (
        <ReasonForm
          isBusy={state.state === 'loading'}
          onReason={reason => void reveal(reason)}
          onCancel={hide}
        />
      ) : (
        mayReveal && (
          <button
            ref={button}
            type="button"
            onClick={() => {
              if (revealed !== undefined) hide()
              else isAsking.value = true
            }}
          >
            {revealed === undefined ? 'Reveal' : 'Hide'}
          </button>
        )
      )}
    </section>
  )
}
